"""Encrypted sensors whose batteries are changed, and somebody who has recorded their packets."""
import json, os, pathlib, signal, subprocess, time

from jelling.gateway import wait_until
from jelling.programs import PYTHON

SENSOR, KEY = '54:48:E6:8F:80:A5', '231d39c1d7cc1ab1aee224cd096db932'
SEAL = '''
import json, sys
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
for degrees, counter in json.load(sys.stdin):
    count = counter.to_bytes(4, 'little')
    sealed = AESCCM(bytes.fromhex(sys.argv[1]), 4).encrypt(bytes.fromhex('5448e68f80a5d2fc41') + count,
                                                            b'\\x02' + (degrees * 100).to_bytes(2, 'little'), None)
    data = b'\\x16\\xd2\\xfc\\x41' + sealed[:-4] + count + sealed[-4:]
    print((bytes([len(data)]) + data).hex())
'''


def sealed(*packets):
    """Advertising data of BTHome for (degrees, counter) each, encrypted by the library `cryptography`."""
    done = subprocess.run([PYTHON, '-c', SEAL, KEY], input=json.dumps(packets), capture_output=True, text=True, check=True)
    return dict(zip(packets, done.stdout.split()))


class Stage:
    def __init__(self, bench, radios=1):
        self.bench = bench
        bench.start_broker()
        self.heard = bench.subscribe('jelling/g/devices/#')
        self.radios = [bench.scripted_radio(f'radio{n}') for n in range(radios)]
        sockets = ', '.join(f'"{r.socket}"' for r in self.radios)
        self.file = bench.write('gateway.yaml', f'name: g\nadapters: [{sockets}]\nmqtt: {{url: "{bench.url}"}}\npublish: {{interval: 0}}\n'
                                            f'devices: [{{address: "{SENSOR}", key: {KEY}}}]\n')
        self.start()

    def start(self):
        self.gateway = self.bench.start('--config', self.file, page=True)
        self.gateway.wait_stderr('connected to the broker')
        self.expected = self.reports()

    def reports(self):
        return self.gateway.metric('reports_total') or 0

    def say(self, data, radio=0, rssi=-60):
        """Until the gateway has handled it."""
        self.radios[radio].say(SENSOR, data, rssi)
        self.expected += 1
        wait_until(lambda: self.reports() >= self.expected, 'the report was handled')

    @property
    def degrees(self):
        return [d['values'].get('temperature') for d in self.heard.documents()]

    def wait(self, degrees):
        wait_until(lambda: degrees in self.degrees, f'{degrees} degrees (have {self.degrees[-5:]})')


def test_battery(bench):
    """a battery is changed: four new packets prove it; recorded ones prove nothing, alone, in order, or between those of the sensor"""
    stage = Stage(bench)
    old = [(20, counter) for counter in range(900, 912)]
    new = [(25, 5), (25, 6), (25, 7), (25, 8), *((26 + n, 9 + n) for n in range(6))]
    packets = sealed(*old, *new)
    for packet in old:
        stage.say(packets[packet])
    stage.wait(20)
    for packet in new[:3]:
        # Those of the old battery come in between, in their order.
        for recorded in old[-3:]:
            stage.say(packets[recorded])
        stage.say(packets[packet])
        time.sleep(4)
    assert set(stage.degrees) == {20}, stage.degrees
    stage.say(packets[new[3]])
    stage.wait(25)
    stage.gateway.wait_stderr(f'{SENSOR} counts its packets from 8 on, after 911, and several new packets prove it')
    assert f'{SENSOR} sent a packet with counter' in stage.gateway.stderr(), stage.gateway.stderr()
    count = len(stage.degrees)
    for _ in range(5):
        stage.say(packets[old[-1]])
    for packet in old:
        stage.say(packets[packet])
        time.sleep(1)
    assert len(stage.degrees) == count, f'recorded packets were used: {stage.degrees[count:]}'
    for packet in new[4:]:
        stage.say(packets[old[-1]])
        stage.say(packets[packet])
        stage.wait(packet[0])
    assert stage.degrees[count:] == [p[0] for p in new[4:]], stage.degrees[count:]
    stage.gateway.end()
    assert stage.gateway.process.returncode == 0, stage.gateway.stderr()[-300:]


def test_lost_counters(bench):
    """recorded packets after the gateway was started again, without its counters, with files that were cut off, and with none"""
    stage = Stage(bench)
    old = [(20, counter) for counter in range(900, 906)]
    new = [(21 + n, 906 + n) for n in range(4)]
    low = [(30, 5 + n) for n in range(4)]
    packets = sealed(*old, *new, *low)

    def attack(fresh):
        count = len(stage.degrees)
        # The last one would only be the same packet again.
        for packet in old[:-1]:
            stage.say(packets[packet])
        stage.say(packets[fresh])
        stage.wait(fresh[0])
        assert stage.degrees[count:] == [fresh[0]], stage.degrees[count:]

    for packet in old:
        stage.say(packets[packet])
    stage.wait(20)
    stage.gateway.end()
    stage.start()
    attack(new[0])
    stage.gateway.end()
    counters, memory = (bench.path(f'state/gateway-g.{ending}') for ending in ('counters', 'packets'))
    for path in (counters, memory):
        assert os.stat(path).st_mode & 0o777 == 0o600, f'{path}: mode {os.stat(path).st_mode:o}'
    os.remove(counters)
    stage.start()
    attack(new[1])
    stage.gateway.end(signal.SIGKILL)
    # Killed: what it has written is of the last start.
    pathlib.Path(counters).write_text('jelling-gateway counters 2\n5448e68f80a5 38', encoding='utf-8')
    stage.start()
    stage.gateway.wait_stderr('gateway-g.counters is damaged')
    attack(new[2])
    stage.gateway.end()
    os.truncate(memory, os.path.getsize(memory) - 1)
    stage.start()
    stage.gateway.wait_stderr('gateway-g.packets is damaged')
    attack(new[3])
    stage.gateway.end()
    for path in (counters, memory):
        os.remove(path)
    stage.start()
    # Nothing is known, so a recorded packet is used; but the sensor, whose battery was changed, is not shut out.
    count = len(stage.degrees)
    stage.say(packets[old[-1]])
    wait_until(lambda: len(stage.degrees) > count, 'the recorded packet')
    for packet in low:
        stage.say(packets[packet])
        time.sleep(4)
    stage.wait(30)
    assert stage.degrees[count:] == [20, 30], stage.degrees[count:]
    stage.gateway.end()


def test_late_adapter(bench):
    """two adapters, one of which is late: a battery that was changed is proved, and the late packets neither help nor harm"""
    stage = Stage(bench, radios=2)
    old = [(20, counter) for counter in range(900, 904)]
    new = [(25, 5), (25, 6), (25, 7), (25, 8), (26, 9)]
    packets = sealed(*old, *new)
    for packet in old:
        stage.say(packets[packet])
        stage.say(packets[packet], radio=1, rssi=-80)
    stage.wait(20)
    count = len(stage.degrees)
    time.sleep(21)
    for number, packet in enumerate(new[:3]):
        stage.say(packets[packet])
        for other in old + new[:number + 1]:
            stage.say(packets[other], radio=1, rssi=-80)
        time.sleep(4)
    assert set(stage.degrees) == {20}, stage.degrees
    stage.say(packets[new[3]], radio=1)
    stage.wait(25)
    for packet in old:
        stage.say(packets[packet], radio=1)
    stage.say(packets[new[4]])
    stage.wait(26)
    assert [d for d in stage.degrees[count:] if d != 20] == [25, 26], stage.degrees[count:]
    stage.gateway.end()
