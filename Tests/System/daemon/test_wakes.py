"""Cases of the time that a woken app has: for what it has begun, until it says that it is done, and of what waits for it."""
import time

from jelling.apps import CENTRAL, Air, actor, launch, leave, sensor, told, wait_for
from jelling.daemon import Daemon
from daemon.test_scenarios import ONE, reader, waiting

# Seconds between two values: more than a wake lasts, so that each value wakes the app.
PERIOD = 15
WISH = {'scan': ['180d'], 'connect': {}, 'subscribe': '2a37'}


def sparse():
    """A sensor that measures rarely."""
    return Air(profile=sensor(seconds=PERIOD))


def stopped(daemon, name=ONE):
    daemon.wait_stopped(daemon.process_of(name))


def wake(daemon, air, until, name=ONE):
    """Launches the app, lets it be stopped, and waits for an event of the wake that the next value is. Returns what the app has
    said from the beginning of that wake until it is stopped again."""
    air.come()
    launch(daemon, name)
    wait_for(daemon, name, 'notifying')
    leave(daemon, name)
    stopped(daemon, name)
    before = len(told(daemon, name))
    daemon.wait_for(until, lambda: any(line['event'] == until for line in told(daemon, name)[before:]))
    stopped(daemon, name)
    said = [line['event'] for line in told(daemon, name)[before:] if line['event'] != 'log']
    # It is told its time when it leaves, when it is stopped, and at each wake: a second wake would show.
    return said[said.index('value'):]


def strikes(daemon, name=ONE):
    return daemon.operate(list={})[name].strikes


def test_late_completion():
    """what a delegate has begun goes on in the same wake, after it has returned: three seconds later it is done, without a strike (SPEC BGX-4)"""
    with sparse() as air, Daemon(
            adapter=air.endpoint, apps=[actor(ONE, {**WISH, 'late': 3}, modes=CENTRAL)], idle=None) as daemon:
        assert wake(daemon, air, 'late') == ['value', 'late'], told(daemon, ONE)
        assert strikes(daemon) == 0


def test_done_app():
    """an app that says that it is done, and one that has ended its task, are stopped at once, whatever time they have (SPEC BGX-4)"""
    for work, said in ('done', ['value']), (2, ['value', 'ended']):
        # Its time is longer than the case waits.
        app = actor(ONE, {**WISH, 'work': work}, modes=CENTRAL, wakeSeconds=3600)
        with sparse() as air, Daemon(adapter=air.endpoint, apps=[app], idle=None) as daemon:
            assert wake(daemon, air, said[-1]) == said, told(daemon, ONE)
            assert strikes(daemon) == 0


def test_expired_task():
    """a task is warned when the time is over; one that ends then is no strike, one that does not is (SPEC BGX-5)"""
    for work, said, count in ('expiring', ['value', 'expiring', 'ended'], 0), ('endless', ['value', 'expiring'], 1):
        app = actor(ONE, {**WISH, 'work': work}, modes=CENTRAL, wakeSeconds=2)
        with sparse() as air, Daemon(adapter=air.endpoint, apps=[app], idle=None) as daemon:
            assert wake(daemon, air, said[-1]) == said, told(daemon, ONE)
            assert strikes(daemon) == count


def test_idle_cost():
    """the operator's setting bounds how long an app runs that has nothing to do and does not say so (SPEC BGX-4)"""
    limits = {'idleSeconds': 0, 'wakeSeconds': 3600}
    with sparse() as air, Daemon(settings={'limits': limits}, adapter=air.endpoint, apps=[actor(ONE, WISH, modes=CENTRAL)]) as daemon:
        assert wake(daemon, air, 'value') == ['value'], told(daemon, ONE)
        assert strikes(daemon) == 0


def test_slow_server():
    """a server that answers two seconds after it was woken answers; one that has not when it is stopped costs its central an error, no link"""
    wish = {'publish': [['180f', ['2a19', 2, 1]]], 'advertise': 'Door'}
    for after, seconds in (2, 10), (60, 1):
        app = actor(ONE, {**wish, 'answer': after}, modes=['bluetooth-peripheral'], wakeSeconds=seconds)
        with Air() as air, Daemon(adapter=air.endpoint, apps=[app], idle=None) as daemon:
            launch(daemon, ONE)
            wait_for(daemon, ONE, 'advertising')
            read, *_ = reader(air)
            leave(daemon, ONE)
            stopped(daemon)
            end = read()
            assert len(told(daemon, ONE, 'read')) == 1
            if after == 2:
                assert b'here' in end.attribute_values.values[0].value, end
                assert strikes(daemon) == 0
            else:
                assert end.HasField('failure'), end
                stopped(daemon)
                assert strikes(daemon) == 1
                # The link goes on: the next request wakes the app again.
                assert read().HasField('failure')
                wait_for(daemon, ONE, 'read', 2)


def test_lost_events():
    """what found no room while an app was suspended is counted, in an event and in its log, before what waited (SPEC 5.5 rule 2)"""
    with Air(profile=sensor('00' * 200, 0.02)) as air, Daemon(
            settings={'limits': {'queuedOctets': 65_536}}, adapter=air.endpoint, apps=[actor(ONE, WISH, modes=[])]) as daemon:
        air.come()
        launch(daemon, ONE)
        wait_for(daemon, ONE, 'value')
        # A value of 200 octets, its event, and its place in the queue.
        room, rounds = 65_536 // (200 + 96 + 208), 0
        while not told(daemon, ONE, 'lost'):
            leave(daemon, ONE)
            stopped(daemon)
            before = len(told(daemon, ONE))
            daemon.wait_for('the queue is full', lambda: waiting(daemon, ONE) >= room - 1)
            # The next one finds no room; where the peer is slow, a later round waits long enough for it.
            time.sleep(0.05 * 2 ** rounds)
            launch(daemon, ONE)
            wait_for(daemon, ONE, 'value', len(told(daemon, ONE, 'value')) + room // 2)
            rounds += 1
            assert rounds < 10, 'nothing is lost'
        lines = told(daemon, ONE)[before:]
        assert next(line['event'] for line in lines if line['event'] in ('lost', 'value')) == 'lost', lines[:5]
        lost = told(daemon, ONE, 'lost')[0]['count']
        assert any(f'{lost} events were dropped' in line['text'] for line in lines if line['event'] == 'log'), lines[:5]
