#!/usr/bin/env python3
"""Who reads what a gateway says while Tools/Gateway/load plays: each in a process of its own, so that none waits for another.

  readers.py proxy PORT     aioesphomeapi, subscribed to all advertisements
  readers.py page PORT      asks for what the live page asks for, in its order, and reads its stream of events

Prints {"ev": "ready"} when it hears something. A line on standard input begins the figures, its end ends them: {"ev": "end", …} has them.
What devices send is as radio.py makes it, with their own count and the time of day."""
import asyncio, array, json, os, select, sys, time, types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'Tests', 'System'))
from jelling import web   # noqa: E402

PATIENCE = 180


def say(**what):
    print(json.dumps(what), flush=True)


def percentiles(values):
    """In milliseconds, of latencies in seconds."""
    values = sorted(values)
    if not values:
        return {}
    return {name: 1000 * values[min(len(values) - 1, int(len(values) * share))]
            for name, share in (('median', 0.5), ('99 %', 0.99), ('99.9 %', 0.999), ('most', 1))}


class Proxy:
    """Takes the packets of jelling.esphome.Client."""

    def __init__(self):
        self.last = {}
        self.begin()

    def begin(self):
        self.latencies, self.missing, self.repeated = array.array('f'), 0, 0

    def extend(self, packets):
        now = time.time()
        for packet in packets:
            said = packet.data
            count = int.from_bytes(said[7:11], 'little')
            self.latencies.append(now - int.from_bytes(said[11:19], 'little') / 1e6)
            if before := self.last.get(packet.address):
                self.missing += max(0, count - before - 1)
                self.repeated += count <= before
            self.last[packet.address] = max(count, before or 0)

    async def follow(self, port):
        from jelling.esphome import Client, until
        client = Client(types.SimpleNamespace(place=('127.0.0.1', port, None)))
        client.packets = self
        lines = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        async with client:
            await until(lambda: self.latencies, 'advertisements', PATIENCE)
            say(ev='ready')
            await lines.readline()
            self.begin()
            await lines.read()
            say(ev='end', count=len(self.latencies), missing=self.missing, repeated=self.repeated, devices=len(self.last),
                **percentiles(self.latencies))


class Page:
    """What the script of the live page does (Sources/BLEGateway/Pages), without drawing."""

    def __init__(self, port):
        self.port, self.devices, self.last = port, {}, None
        self.begin()

    def begin(self):
        self.events, self.missing, self.octets = 0, 0, 0

    def ask(self, path):
        status, body = web.ask(self.port, web.request('GET', path))
        assert status in (200, 503), f'{path}: {status}'
        return json.loads(body)

    def load(self):
        web.ask(self.port, web.request('GET', '/live'))
        for path in ('/health', '/api/adapters', '/api/queue'):
            self.ask(path)
        after = -1
        while after is not None:
            page = self.ask(f'/api/devices?after={after}')
            self.devices.update((d['device'], d) for d in page['devices'])
            after = page.get('next')

    def follow(self):
        self.load()
        stream = web.connect(self.port)
        stream.sendall(web.request('GET', '/events'))
        rest, asked, is_ready = b'', 0, False
        while True:
            if time.monotonic() - asked > 5:
                self.ask('/api/sessions')
                asked = time.monotonic()
            readable, _, _ = select.select([stream, sys.stdin], [], [], 5)
            if sys.stdin in readable:
                if not os.read(sys.stdin.fileno(), 64):
                    break
                self.begin()
            if stream in readable:
                chunk = stream.recv(65536)
                assert chunk, 'the stream has ended'
                self.octets += len(chunk)
                *parts, rest = (rest + chunk).split(b'\n\n')
                for part in parts:
                    self.take(part)
            if self.events and not is_ready:
                say(ev='ready')
                is_ready = True
        say(ev='end', events=self.events, missing=self.missing, octets=self.octets, devices=len(self.devices))

    def take(self, text):
        event = dict(line.split(': ', 1) for line in text.decode().split('\n') if ': ' in line)
        if 'data' not in event:
            return
        data, number = json.loads(event['data']), int(event['id'].split('-')[1])
        self.events += 1
        self.missing += 0 if self.last is None else number - self.last - 1
        self.missing += event['event'] == 'missed'
        self.last = number
        if event['event'] == 'device':
            self.devices[data['device']] = {**self.devices.get(data['device'], {}), **data}


if __name__ == '__main__':
    if len(sys.argv) != 3 or sys.argv[1] not in ('proxy', 'page'):
        sys.exit(__doc__)
    if sys.argv[1] == 'proxy':
        asyncio.run(Proxy().follow(int(sys.argv[2])))
    else:
        Page(int(sys.argv[2])).follow()
