"""Clients that ask a daemon for as much as they can, for the cases of the ring and for the benchmark.

Each function floods on one connection until the daemon ends it; `flooding` runs them in processes of their own."""
import contextlib, mmap, os, struct, time

from jelling.session import Client

# In a process that floods: how many requests it has had answered, in memory that it shares with its parent.
COUNTER = struct.Struct('Q')
counter = memoryview(bytearray(COUNTER.size))


def count(requests):
    COUNTER.pack_into(counter, 0, COUNTER.unpack_from(counter)[0] + requests)


def ask(client, commands):
    """Sends the commands in one write and reads until the last one has ended."""
    client.request_all(commands)
    if client.end(client.number) is None:
        raise OSError
    count(len(commands))


# Ends at once: there is no such link.
NO_LINK = {'disconnect': {'link': 99}}


def refused(client, _):
    "requests that are refused"
    client.greet()
    while True:
        ask(client, [NO_LINK] * 64)


def single(client, _):
    "requests that are refused, one after the other"
    client.greet()
    while True:
        ask(client, [NO_LINK])


def scans(client, _):
    "scans that begin and end"
    client.greet()
    while True:
        ask(client, [command for number in range(1, 65, 2)
                     for command in ({'scan': {'is_active': True}}, {'cancel': {'operation': client.number + number}})])


def reads(client, peer):
    "reads of a value"
    client.greet()
    end = client.done(connect={'peer': peer, 'establishment_retries': 5})
    if end is None or not end.HasField('link'):
        raise OSError
    while True:
        ask(client, [{'gatt': {'link': end.link, 'read': 3}}] * 64)


def unread(client, _):
    "requests whose answers it does not read"
    client.greet()
    while True:
        client.request_all([NO_LINK] * 64)


def fill(client, message):
    """Sends `message(1)`, `message(2)` and so on, without reading, until the daemon has taken nothing for a second; how many
    it has got whole. What is left of the last one is sent."""
    client.socket.settimeout(1)
    number, left = 0, b''
    try:
        while True:
            if not left:
                number += 1
                content = message(number)
                left = len(content).to_bytes(4, 'little') + content
            left = left[client.socket.send(left):]
    except TimeoutError:
        pass
    client.socket.settimeout(60)
    if len(left) == 4 + len(content):
        return number - 1, b''
    return number, left


def spins(client, _):
    "nothing of the daemon, but all of the processor"
    client.socket.close()
    while True:
        pass


def garbage(client, _):
    "garbage"
    client.greet()
    client.socket.sendall(bytes(range(200, 256)) * 1000)


def half(client, _):
    "halves of frames"
    client.greet()
    client.socket.sendall(b'\xff\xff\0\0' + bytes(60000))
    time.sleep(0.1)


def connections(client, _):
    "a thousand connections"
    kept = [client]
    for _ in range(1000):
        with contextlib.suppress(OSError):
            kept.append(Client(client.socket.getpeername(), 60))


@contextlib.contextmanager
def flooding(path, kinds, peer=None):
    """Processes that flood the daemon behind `path`, from the moment when it listens; each of the kind that is its own. What
    it gives tells how many requests they have had answered by now."""
    global counter
    children = []
    counters = mmap.mmap(-1, COUNTER.size * len(kinds))
    try:
        for kind in kinds:
            child = os.fork()
            if not child:
                counter = memoryview(counters)[COUNTER.size * len(children):]
                try:
                    flood(path, kind, peer)
                finally:
                    os._exit(1)
            children.append(child)
        yield lambda: sum(number for number, in COUNTER.iter_unpack(counters[:]))
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)


def flood(path, kind, peer):
    while True:
        try:
            client = Client(path, 60)
            with contextlib.closing(client.socket):
                kind(client, peer)
        except OSError:
            time.sleep(0.01)
