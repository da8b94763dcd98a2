"""What the model folder of a GGUF file is made of."""


def gguf_file(wildcards, input):
    return input[0]


def own_tokenizer(wildcards, input):
    """The tokenizer.json that the entry names, if it names one."""
    return list(input[1:])
