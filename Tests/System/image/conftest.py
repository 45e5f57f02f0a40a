"""Images of Tools/image, at work: a machine for each file of tests, which go on from each other's state."""
import pytest

from image.bed import Bed


# The images have these in common, and the machine of arm64 is the faster one.
SLOW = 'test_damaged_update', 'test_update_that_does_not_work', 'test_damaged_state'
# Its watchdog waits for a minute.
SLOW_EVERYWHERE = 'test_machine_that_hangs'


def pytest_collection_modifyitems(config, items):
    if not config.option.slow_images:
        left_out = [item for item in items if item.name == SLOW_EVERYWHERE
                    or item.path.stem == 'test_amd64' and item.name in SLOW]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope='module')
def bed(request):
    module = request.module
    one = Bed(module.ARCHITECTURE, module.ADDED, getattr(module, 'PARAMETERS', ''), getattr(module, 'HAS_DONGLE', True))
    yield one
    one.close()


@pytest.fixture(autouse=True)
def is_running(request):
    """After a test that failed in between, the next one finds a machine that runs, in its network, with its adapter."""
    if 'bed' in request.fixturenames:
        request.getfixturevalue('bed').recover()
