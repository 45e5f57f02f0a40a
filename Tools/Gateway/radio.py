#!/usr/bin/env python3
"""A controller that hears many devices, as an H4 endpoint: the load for jelling-gateway.

  radio.py unix:PATH [--devices N] [--rate REPORTS_PER_SECOND] [--seconds S] [--first N] [--still] [--packets FILE] [--stdin]

Answers every command with success. While the host scans, it reports devices in turn, evenly spread over time. What a device
sends contains its own count and the time of day, as manufacturer data: ffff, u32 count, u64 microseconds since 1970; with
--still it sends the same all the time. With --packets, FILE has what the devices send: a JSON list of addresses and advertising
data in hexadecimal, in which @@ is the count. With --stdin it reports only what it reads, a line `ADDRESS DATA RSSI` for each
report, once and as soon as the host scans. Prints {"ev": "ready"}, and at the end {"ev": "sent", "reports": N}, with --packets also
when it sent those of each address, in seconds since 1970. Stops on SIGTERM."""
import argparse, asyncio, collections, json, os, signal, struct, sys, time


class Radio:
    def __init__(self, args):
        self.packets = json.load(open(args.packets, encoding='utf-8')) if args.packets else None
        if self.packets:
            args.devices = len(self.packets)
        self.args, self.scanning, self.reports, self.counts = args, False, 0, [0] * args.devices
        self.slow, self.lines = 0, asyncio.Queue()
        self.times = collections.defaultdict(list)

    def answer(self, opcode, parameters, writer):
        result = bytes(65)
        if opcode == 0x2002:                       # LE Read Buffer Size
            result = struct.pack('<BHB', 0, 251, 16)
        elif opcode == 0x1009:                     # Read BD_ADDR
            result = bytes([0, 1, 2, 3, 4, 5, 6])
        elif opcode == 0x200C:                     # LE Set Scan Enable
            self.scanning = parameters[0] == 1
        writer.write(bytes([0x04, 0x0E, 3 + len(result), 1]) + struct.pack('<H', opcode) + result)

    def report(self, device):
        address = struct.pack('<I', self.args.first + device) + b'\x38\xc1'
        self.counts[device] += 1
        said = b'\xff\xff' + struct.pack('<IQ', self.counts[device], time.time_ns() // 1000)
        if self.args.still:
            said = b'\xff\xff' + struct.pack('<IQ', device, 0)
        data = b'\x02\x01\x06' + bytes([len(said) + 1, 0xFF]) + said
        if self.packets:
            self.times[self.packets[device][0]].append(time.time())
            address, data = (bytes.fromhex(text.replace(':', '').replace('@@', f'{self.counts[device] & 255:02x}'))
                             for text in self.packets[device])
            address = address[::-1]
        return self.packet(address, data, 256 - 50 - (device + self.reports) % 40)

    def packet(self, address, data, rssi):
        body = b'\x02\x01\x03\x00' + address + bytes([len(data)]) + data + bytes([rssi])
        self.reports += 1
        return bytes([0x04, 0x3E, len(body)]) + body

    async def follow(self, writer):
        while True:
            address, data, rssi = (await self.lines.get()).split()
            while not self.scanning:
                await asyncio.sleep(0.005)
            writer.write(self.packet(bytes.fromhex(address.replace(':', ''))[::-1], bytes.fromhex(data), int(rssi) & 255))
            await writer.drain()

    async def send(self, writer):
        began, sent = None, 0
        while True:
            await asyncio.sleep(0.005)
            if not self.scanning:
                began = None
                continue
            if began is None:
                began, sent = time.monotonic(), 0
            due = int((time.monotonic() - began) * self.args.rate)
            # A machine that was held up does not hear everything at once afterwards.
            if due - sent > self.args.rate:
                self.slow += due - sent
                sent = due
            while sent < due:
                writer.write(self.report(self.reports % self.args.devices))
                sent += 1
            await writer.drain()

    async def serve(self, reader, writer):
        sender = asyncio.create_task(self.follow(writer) if self.args.stdin else self.send(writer))
        try:
            while True:
                kind = (await reader.readexactly(1))[0]
                if kind != 1:
                    return
                opcode, length = struct.unpack('<HB', await reader.readexactly(3))
                self.answer(opcode, await reader.readexactly(length), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            sender.cancel()
            self.scanning = False
            writer.close()


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('socket')
    parser.add_argument('--devices', type=int, default=50)
    parser.add_argument('--rate', type=float, default=100)
    parser.add_argument('--seconds', type=float, default=3600)
    parser.add_argument('--first', type=int, default=0, help='number of the first device')
    parser.add_argument('--still', action='store_true')
    parser.add_argument('--packets')
    parser.add_argument('--stdin', action='store_true')
    args = parser.parse_args()
    radio, path = Radio(args), args.socket.removeprefix('unix:')
    server = await asyncio.start_unix_server(radio.serve, path)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    if args.stdin:
        input = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(input), sys.stdin)

        async def read():
            async for line in input:
                radio.lines.put_nowait(line.decode())
        asyncio.create_task(read())
    print(json.dumps({'ev': 'ready'}), flush=True)
    try:
        await asyncio.wait_for(stop.wait(), args.seconds)
    except asyncio.TimeoutError:
        pass
    server.close()
    os.path.exists(path) and os.unlink(path)
    print(json.dumps({'ev': 'sent', 'reports': radio.reports, 'slow': radio.slow, 'times': radio.times}), flush=True)


if __name__ == '__main__':
    asyncio.run(main())
