"""What the gradients depend on."""


def gradient_settings(wildcards):
    return settings(**reading_settings(wildcards))
