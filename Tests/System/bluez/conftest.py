import pytest

from jelling import bluez


def wish(node):
    """What the marks of this name say, the closest ones last."""
    found = {}
    for mark in (mark for parent in node.listchain() for mark in parent.own_markers if mark.name == 'desk'):
        found |= mark.kwargs
    return found


def pytest_generate_tests(metafunc):
    if 'air' in metafunc.fixturenames:
        kinds = wish(metafunc.definition).get('kinds', ['bumble'])
        chosen = metafunc.config.option.kind
        metafunc.parametrize('air', [kind for kind in kinds if not chosen or kind in chosen])


@pytest.fixture
def desk(request, air):
    """A bus, controllers of this kind with a peripheral of Bumble's on the second one, `bled`, and the door between them."""
    if lacking := bluez.lacking():
        pytest.fail(lacking)
    options = wish(request.node)
    desk = bluez.Desk(air, options.get('endpoints', 2))
    request.addfinalizer(desk.close)
    desk.open(options.get('peer', True))
    return desk.start() if options.get('start', True) else desk
