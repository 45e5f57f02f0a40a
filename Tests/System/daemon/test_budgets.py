"""Cases of what the requests of one user may take of bled: memory while they wait. Real users, with numbers of their own."""
import signal

from jelling.apps import Air
from jelling.daemon import NOBODY, OTHER, Daemon, messages, needs_root, started_as
from daemon.test_fairness import SLOW

CLIENTS = 30
# Of each client; together they have some 110 MB.
WRITES = 60
# What bled may need in addition, in kB: four times what one client may have waiting, and as much again.
MORE = 40_000

# Reliable writes of 120 values to a device that does not answer, from several clients.
GREEDY = """
clients = []
for _ in range(int(sys.argv[2])):
    client = Client(sys.argv[1], 1000)
    client.greeted()
    clients.append((client, client.connected(client.found())))
print('ready', flush=True)
sys.stdin.readline()
values = {'values': 120 * [{'handle': 3, 'value': bytes(500)}]}
refused = {}
for client, link in clients:
    asked = [client.request(gatt={'link': link, 'reliable_write': values}) for _ in range(int(sys.argv[3]))]
    # Ends at once, and after what was asked before has been accepted or refused.
    last = client.request(cancel={'operation': 0})
    while (message := client.receive()) is not None and message.completed.operation != last:
        if message.completed.operation in asked:
            reason = message.completed.failure.reason
            refused[reason] = refused.get(reason, 0) + 1
print(*(f'{reason}:{count}' for reason, count in refused.items()), flush=True)
sys.stdin.readline()
"""
LIMIT_REACHED = messages.Failure.REASON_LIMIT_REACHED


@needs_root
def test_waiting_octets():
    """a user whose 30 programs write 110 MB to a device that does not answer takes little memory, and nothing from another user"""
    with Air(profile=SLOW, name='Slow', comes=True) as air, Daemon(allow=[NOBODY, OTHER], adapter=air.endpoint) as daemon, \
            started_as(NOBODY, GREEDY, daemon, CLIENTS, WRITES) as greedy:
        assert greedy.stdout.readline() == 'ready\n'
        before = daemon.own_kilobytes()
        air.sensor.process.send_signal(signal.SIGSTOP)
        try:
            print(file=greedy.stdin, flush=True)
            refused = dict(map(int, one.split(':')) for one in greedy.stdout.readline().split())
            more = daemon.own_kilobytes() - before
            # Whether a scan that names many services is accepted: then it ends because it is cancelled.
            modest = daemon.connect(OTHER)
            scan = modest.request(scan={'services': [bytes([0x0D, 0x18])] * 200})
            modest.request(cancel={'operation': scan})
            said = modest.end(scan).failure.reason
        finally:
            air.sensor.process.send_signal(signal.SIGCONT)
        assert refused.get(LIMIT_REACHED, 0) > CLIENTS * WRITES / 2, refused
        assert more < MORE, f'{more:,} kB more'
        assert said != LIMIT_REACHED, f'the other user: {said}'
        print(f'{refused[LIMIT_REACHED]:,} of {CLIENTS * WRITES:,} refused, {more:,} kB more')
