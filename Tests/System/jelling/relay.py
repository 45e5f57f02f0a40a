"""An H4 relay between the tool and a controller: it sees every packet, and can lose them or cut the line.

Packets are framed and written one by one, because btvirt takes each write for one packet."""
import itertools, os, socket, threading, time, tty

from jelling.child import wait_until

TO_CONTROLLER, TO_HOST = 'to controller', 'to host'
COMMAND, ACL, SCO, EVENT, ISO = 1, 2, 3, 4, 5
NUMBERS = itertools.count(1)


def split_packets(data):
    """Whole H4 packets at the head of `data`, and what is left."""
    packets, at = [], 0
    while at < len(data):
        kind = data[at]
        if kind == EVENT:
            head, size = 3, lambda: data[at + 2]
        elif kind in (COMMAND, SCO):
            head, size = 4, lambda: data[at + 3]
        elif kind in (ACL, ISO):
            head, size = 5, lambda: (data[at + 3] | data[at + 4] << 8) & (0x3FFF if kind == ISO else 0xFFFF)
        else:
            raise ValueError(f'no H4 packet type: {kind:#x}')
        if len(data) < at + head or len(data) < at + head + size():
            break
        end = at + head + size()
        packets.append(bytes(data[at:end]))
        at = end
    return packets, data[at:]


class Relay:
    """Listens on a socket (or, with `uart`, on a pseudo terminal) and passes everything to `upstream`."""

    def __init__(self, folder, upstream, watch=None, uart=False):
        self.upstream = upstream.split(':', 1)[1]
        self.watch = watch or (lambda direction, packet: True)   # False loses the packet
        self.log, self.lock, self.open, self.closed = [], threading.Lock(), [], False
        self.error = None
        if uart:
            master, slave = os.openpty()
            tty.setraw(slave)
            self.keep = slave                     # stays open, so that the master never sees a hang-up
            self.endpoint = f'uart:{os.ttyname(slave)}@115200'
            self.listener = None
            self.session(_Terminal(master))
        else:
            path = os.path.join(folder, f'relay{next(NUMBERS)}')
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(path)
            self.listener.listen()
            self.endpoint = f'unix:{path}'
            threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.session(client)

    def session(self, client):
        controller = socket.socket(socket.AF_UNIX)
        controller.connect(self.upstream)
        self.begin(client, controller)

    def begin(self, client, controller):
        self.open += [client, controller]
        for source, sink, direction in ((client, controller, TO_CONTROLLER), (controller, client, TO_HOST)):
            threading.Thread(target=self.pump, args=(source, sink, direction), daemon=True).start()

    def pump(self, source, sink, direction):
        rest = b''
        try:
            while data := source.recv(65536):
                packets, rest = split_packets(rest + data)
                for packet in packets:
                    with self.lock:
                        self.log.append((direction, packet, time.monotonic()))
                    if self.watch(direction, packet):
                        sink.sendall(packet)
        except OSError:
            pass
        except ValueError as e:
            self.error = f'{direction}: {e}'
        # One end is closed: close the other, too.
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        """The controller is unplugged: the connection breaks and further ones are refused."""
        self.closed = True
        if self.listener:
            self.listener.close()
            os.unlink(self.endpoint.split(':', 1)[1])
        for end in self.open:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def tell_host(self, packet):
        """Gives the tool a packet that no controller has sent."""
        self.open[-2].sendall(packet)

    def packets(self, direction=None):
        with self.lock:
            return [p for d, p, _ in self.log if direction in (None, d)]

    def commands(self, *opcodes):
        """Parameters of the commands sent, as (opcode, bytes), in order; of these opcodes, or all."""
        found = [(p[1] | p[2] << 8, p[4:]) for p in self.packets(TO_CONTROLLER) if p[0] == COMMAND]
        return [c for c in found if not opcodes or c[0] in opcodes]

    def wait_for_command(self, opcodes, timeout=60):
        wait_until(lambda: self.commands(*opcodes), f'a command of {[hex(o) for o in opcodes]}', timeout)


class _Terminal:
    """The master of a pseudo terminal with the methods of a socket."""

    def __init__(self, fd):
        self.fd = fd

    def recv(self, size):
        return os.read(self.fd, size)

    def sendall(self, data):
        while data:
            data = data[os.write(self.fd, data):]

    def shutdown(self, _):
        pass

    def close(self):
        os.close(self.fd)
