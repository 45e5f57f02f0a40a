"""Cases of programs that ask for as much as they can: each delays others by its turn and no more."""
import signal, time

from pytest import mark

from jelling import floods
from jelling.daemon import HEART, LIMIT, Daemon, answered, grows_less_than, octets

FLOODING = 10
# What all programs may ask for in a second before they count as busy (BusyMeter).
UNHURRIED = 32 / 0.010


def publish(number):
    return {'publish': {'uuid': (0xA000 + number).to_bytes(2, 'little'), 'is_primary': True}}


def handle(client, operation):
    """Of a published service; services get their handles in the order in which they are published."""
    end = client.end(operation)
    assert end and end.HasField('published'), end
    return end.published.range.first


@mark.alone
def test_busy_programs():
    """ten programs that ask for as much as they can, by many requests at once or one by one, leave the processor to others"""
    shares, rates = [], []
    with Daemon() as daemon, daemon.app('heart-rate-central', '1000') as victim:
        victim.wait_for('beat', 2)
        for kind in floods.refused, floods.single:
            with floods.flooding(daemon.path, [kind] * FLOODING) as answered:
                victim.wait_for_more('beat', 1)
                before, began, earlier = daemon.processor_seconds(), time.monotonic(), answered()
                time.sleep(2)
                victim.wait_for_more('beat', 2)
                duration = time.monotonic() - began
                shares.append((daemon.processor_seconds() - before) / duration)
                rates.append((answered() - earlier) / duration)
    # An eighth is their turns; the rest are waking up, reading their sockets and what the victim asks for.
    said = ' and '.join(f'{share:.0%} for {rate:,.0f} requests a second' for share, rate in zip(shares, rates))
    # One by one they may ask for so little that none is busy: what that costs depends on the machine, not on them.
    assert shares[0] < 0.4 and (shares[1] < 0.4 or rates[1] < 1.5 * UNHURRIED), said
    print(f'bled used {said}')


def test_all_floods():
    """an app hears its sensor while others flood in seven ways, and bled ends while they do"""
    kinds = [floods.refused, floods.scans, floods.reads, floods.unread, floods.garbage, floods.half, floods.connections]
    with Daemon() as daemon, daemon.app('heart-rate-central', '1000') as victim:
        victim.wait_for('beat', 2)
        with floods.flooding(daemon.path, kinds + [floods.refused, floods.scans, floods.reads], HEART), \
                grows_less_than(daemon, 64):
            victim.wait_for_more('beat', 5)
        # All that they have held is free again.
        daemon.wait_for('a place for another program', daemon.can_greet)
        with floods.flooding(daemon.path, [floods.refused] * FLOODING):
            victim.wait_for_more('beat', 1)
            daemon.process.send_signal(signal.SIGTERM)
            assert daemon.process.wait(LIMIT) == 0, 'bled did not end while others flood'


def test_silent_leaver():
    """what a program asked for before it closed its end is done, although it read nothing and was not heard any more"""
    with Daemon() as daemon:
        watcher = daemon.connect()
        first = handle(watcher, watcher.request(**publish(0)))
        silent = daemon.connect()
        # How many requests it gets rid of depends on the sockets of this host; a tool may have 64 services.
        count, left = floods.fill(silent, lambda number: octets(request={'operation': number, **(
            publish(number // 50) if number % 50 == 0 and number // 50 < 64 else floods.NO_LINK)}))
        # The last one may be sent in part.
        count -= bool(left)
        services = min(count // 50, 63)
        assert services, f'it was heard {count} times'
        silent.socket.close()
        daemon.wait_for('it is gone', lambda: len(clients(daemon)) == 2)
        # Each service had a place, which is kept for one like it.
        places = handle(watcher, watcher.request(**publish(100))) - first - 1
        assert places == services, f'{places} of {services} services were published'
        print(f'{count} requests, {places} of them services')


NOTE = '6A656C6C-696E-6700-8000-000000000002'
SLOW = {'services': [{'uuid': '180D', 'characteristics': [{'uuid': NOTE, 'properties': ['read', 'write'], 'value': 'ffff'}]}]}


def clients(daemon):
    """What bled says of each client."""
    return answered(daemon.path, status={}).status.clients
