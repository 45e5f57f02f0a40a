import pytest

from jelling import gateway


@pytest.fixture
def bench(request):
    """A broker on loopback, radios, and gateways at work on them."""
    if lacking := gateway.lacking():
        pytest.fail(lacking)
    bench = gateway.Bench()
    request.addfinalizer(bench.close)
    return bench
