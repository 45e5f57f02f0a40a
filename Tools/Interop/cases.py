"""The registry of tests: a test is a function of a bench, its docstring is the sentence that it proves."""
from lab import KINDS, SPECIAL_KINDS


class Case:
    def __init__(self, test, kinds, slow, peer, endpoints):
        self.test, self.kinds, self.slow, self.peer, self.endpoints = test, kinds, slow, peer, endpoints
        self.name, self.sentence = test.__name__, test.__doc__.strip().splitlines()[0]


CASES = []


def case(kinds=tuple(kind for kind in KINDS if kind not in SPECIAL_KINDS), slow=False, peer=True, endpoints=2):
    """Registers a test for these kinds of controllers; a slow one starts first.

    Its bench has this many controllers (btvirt gives any number of clients one each), and a peripheral on the second one
    unless the test brings its own peers (`peer`)."""
    def register(test):
        CASES.append(Case(test, kinds, slow, peer, endpoints))
        return test
    return register


class Skip(Exception):
    """A test that cannot run here; the reason names what is missing."""


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def same(what, got, want):
    check(got == want, f'{what}: got {got!r}, want {want!r}')
