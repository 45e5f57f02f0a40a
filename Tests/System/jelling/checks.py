"""What a test expects."""


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def same(what, got, want):
    check(got == want, f'{what}: got {got!r}, want {want!r}')
