"""The one exception for what a user can mend."""


class UserError(Exception):
    """A mistake in the user's config or data, or a lack on the machine.

    Its text is one line that names the file, row or key and says what to do.
    """
