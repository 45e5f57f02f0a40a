"""Cases of what the requests of one user may take of bled: memory while they wait. Real users, with numbers of their own."""
import json, pathlib, signal

from jelling.daemon import needs_root, started_as
from daemon.test_operators import NOBODY, Open
from daemon.test_sharing import LIMIT_REACHED
from daemon import test_fairness as fairness
from jelling import lab as bench

OTHER = 65533
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
    assert 1 in client.greet(), 'refused'
    scan = client.request({2: {1: 1}})
    while 4 not in (message := client.receive()):
        pass
    client.request({5: {1: scan}})
    end = client.end(client.request({4: {1: decode(message[4][0])[2][0], 2: 5}}))
    assert end and 4 in end, end
    clients.append((client, Fixed64(end[4][0])))
print('ready', flush=True)
sys.stdin.readline()
value = encode({1: 3, 2: bytes(500)})
values = 120 * (varint(1 << 3 | 2) + varint(len(value)) + value)
refused = {}
for client, link in clients:
    asked = [client.request({7: {1: link, 15: values}}) for _ in range(int(sys.argv[3]))]
    # Ends at once, and after what was asked before has been accepted or refused.
    last = client.request({5: {1: 0}})
    while (message := client.receive()) is not None:
        if 3 not in message:
            continue
        end = decode(message[3][0])
        if end[1][0] == last:
            break
        if end[1][0] in asked:
            reason = decode(end[2][0])[1][0]
            refused[reason] = refused.get(reason, 0) + 1
print(*(f'{reason}:{count}' for reason, count in refused.items()), flush=True)
sys.stdin.readline()
"""

@needs_root
def test_waiting_octets():
    """a user whose 30 programs write 110 MB to a device that does not answer takes little memory, and nothing from another user"""
    with bench.Lab('simulator', 2).open(peer=False) as lab:
        profile = lab.path('slow.json')
        pathlib.Path(profile).write_text(json.dumps(fairness.SLOW))
        server = lab.start('serve', '--profile', profile, '--name', 'Slow', '--advertise', '180D', via=lab.endpoints[1])
        server.wait_for(lambda line: line.get('event') == 'advertising', 'advertising')
        with Open('--allow', str(NOBODY), '--allow', str(OTHER), adapter=lab.endpoint) as daemon, \
                started_as(NOBODY, GREEDY, daemon, CLIENTS, WRITES) as greedy:
            assert greedy.stdout.readline() == 'ready\n'
            before = daemon.own_kilobytes()
            server.process.send_signal(signal.SIGSTOP)
            try:
                print(file=greedy.stdin, flush=True)
                refused = dict(map(int, one.split(':')) for one in greedy.stdout.readline().split())
                more = daemon.own_kilobytes() - before
                # Whether a scan that names many services is accepted: then it ends because it is cancelled.
                modest = fairness.client_of(OTHER, daemon)
                scan = modest.request(scan={'services': [bytes([0x0D, 0x18])] * 200})
                modest.request(cancel={'operation': scan})
                said = modest.end(scan).failure.reason
            finally:
                server.process.send_signal(signal.SIGCONT)
            assert refused.get(LIMIT_REACHED, 0) > CLIENTS * WRITES / 2, refused
            assert more < MORE, f'{more:,} kB more'
            assert said != LIMIT_REACHED, f'the other user: {said}'
            print(f'{refused[LIMIT_REACHED]:,} of {CLIENTS * WRITES:,} refused, {more:,} kB more')
