def reproduce() -> None:
    """x"""
