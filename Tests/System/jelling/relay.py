"""An H4 relay between the tool and a controller: it sees every packet, and can lose them or cut the line.

Packets are framed and written one by one, because btvirt takes each write for one packet."""
import contextlib, itertools, os, select, socket, threading, time, tty

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
        self.watch = watch or (lambda direction, packet: True)   # False loses the packet, octets take its place
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
                    if verdict := self.watch(direction, packet):
                        sink.sendall(verdict if isinstance(verdict, bytes) else packet)
        except OSError:
            pass
        except ValueError as e:
            self.error = f'{direction}: {e}'
        # One end is closed: close the other, too.
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """The controller is unplugged: the connection breaks and further ones are refused."""
        self.closed = True
        if self.listener:
            self.listener.close()
            os.unlink(self.endpoint.split(':', 1)[1])
        for end in self.open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
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


class Line:
    """What hosts send to `path` reaches `upstream`, and the answers come back, unread. `is_mute` loses both, `cut` ends them;
    `streams` has what each host has sent."""

    def __init__(self, path, upstream, delay=0):
        self.path, self.upstream, self.delay = path, upstream, delay
        self.open, self.streams, self.is_mute = [], [], False
        self.listen()

    def listen(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.accept, args=[self.listener], daemon=True).start()

    def accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                host, _ = listener.accept()
                threading.Thread(target=self.carry, args=[host, bytearray()], daemon=True).start()

    def carry(self, host, kept):
        time.sleep(self.delay)
        with contextlib.suppress(OSError, ValueError), host, socket.socket(socket.AF_UNIX) as other:
            other.connect(self.upstream)
            self.open += [host, other]
            self.streams.append(kept)
            while True:
                for side in select.select([host, other], [], [])[0]:
                    data = side.recv(65536)
                    if not data:
                        return
                    if side is host:
                        kept += data
                    # What is said to an adapter that hangs is lost.
                    if not self.is_mute:
                        (other if side is host else host).sendall(data)

    def cut(self):
        """The adapter is unplugged: nothing is there any more."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.path)
        for end in self.open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.open = []


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
