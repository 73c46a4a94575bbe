"""Words for messages."""


def counted(
    number: int,
    noun: str,
    plural: str | None = None,
) -> str:
    """Write a number with its noun.

    Args:
        number: The number.
        noun: The noun in the singular.
        plural: Its plural, where that is not the noun with an s.

    Returns:
        Text such as "1 record" or "1,234 records".
    """
    if number != 1:
        noun = plural or f"{noun}s"
    return f"{number:,} {noun}"
