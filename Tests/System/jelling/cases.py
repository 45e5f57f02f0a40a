"""Cases that differ by data: each keeps its name and its sentence."""
from pytest import mark, param


def cases(names='', **rows):
    """One test for several cases: `rows` has the sentence of each, and what the test is given by these names."""
    values = names.replace(' ', '').split(',') if names else []
    return mark.parametrize(['sentence', *values], [param(*row, id=name) for name, row in rows.items()])
