#!/usr/bin/env python3
"""The radios of a fleet: gateways on a grid, 10 m apart, and devices between them, each heard by the gateways that are near.

  town.py DIR [--gateways 100] [--devices 250] [--rate REPORTS_PER_SECOND] [--range METRES]

Serves a controller at DIR/N for each gateway, as radio.py does. The signal falls with the distance, and varies from packet to packet.
Prints {"ev": "ready", "nearest": {ADDRESS: N}}: for each device the gateway that should receive it best. Stops on SIGTERM."""
import argparse, asyncio, json, math, os, random, signal, struct, time

from radio import Radio


class Post(Radio):
    """The controller of one gateway: it reports what the town gives it."""

    def __init__(self):
        self.scanning, self.writer, self.args = False, None, argparse.Namespace(stdin=False)

    async def send(self, writer):
        self.writer = writer
        await asyncio.Event().wait()


class Town:
    def __init__(self, args):
        self.args, chance = args, random.Random(17)
        side = math.ceil(math.sqrt(args.gateways))
        places = [(10 * (n % side), 10 * (n // side)) for n in range(args.gateways)]
        self.posts = [Post() for _ in places]
        self.heard, self.nearest, self.reports, self.chance = [], {}, 0, chance
        for number in range(args.devices):
            # Near enough to one gateway that no other can be as loud.
            x, y = (v + chance.uniform(-3, 3) for v in chance.choice(places))
            distances = sorted((max(1, math.dist((x, y), p)), n) for n, p in enumerate(places))
            address = struct.pack('<I', number) + b'\x38\xc1'
            self.nearest[address[::-1].hex(':').upper()] = distances[0][1]
            self.heard.append((address, [(n, -45 - 30 * math.log10(d)) for d, n in distances if d <= args.range]))

    def advertise(self, number, count):
        address, gateways = self.heard[number % len(self.heard)]
        said = b'\xff\xff' + struct.pack('<IQ', count, time.time_ns() // 1000)
        data = b'\x02\x01\x06' + bytes([len(said) + 1, 0xFF]) + said
        body = b'\x02\x01\x03\x00' + address + bytes([len(data)]) + data
        head = bytes([0x04, 0x3E, len(body) + 1])
        for gateway, strength in gateways:
            post = self.posts[gateway]
            if post.scanning and post.writer:
                rssi = max(-100, min(-20, round(strength + self.chance.gauss(0, 3))))
                post.writer.write(head + body + bytes([256 + rssi]))
                self.reports += 1

    async def live(self):
        began, packets = None, 0
        # How many gateways hear a packet, on average.
        share = sum(len(g) for _, g in self.heard) / len(self.heard)
        while True:
            await asyncio.sleep(0.01)
            if not any(p.scanning for p in self.posts):
                continue
            began = began or time.monotonic()
            due = int((time.monotonic() - began) * self.args.rate / share)
            if due - packets > 1000:
                packets = due
            while packets < due:
                self.advertise(packets, packets // len(self.heard))
                packets += 1


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('dir')
    parser.add_argument('--gateways', type=int, default=100)
    parser.add_argument('--devices', type=int, default=250)
    parser.add_argument('--rate', type=float, default=2000)
    parser.add_argument('--range', type=float, default=20)
    args = parser.parse_args()
    town, stop = Town(args), asyncio.Event()
    for number, post in enumerate(town.posts):
        await asyncio.start_unix_server(post.serve, os.path.join(args.dir, str(number)))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    life = asyncio.create_task(town.live())
    print(json.dumps({'ev': 'ready', 'nearest': town.nearest}), flush=True)
    await stop.wait()
    life.cancel()
    print(json.dumps({'ev': 'sent', 'reports': town.reports}), flush=True)


asyncio.run(main())
