"""Clients of the gateway's HTTP server that keep their connection: events, and lines of an answer."""
import contextlib, json, socket, threading

from jelling.child import wait_until

PATIENCE = 180


def connect(port, timeout=PATIENCE, buffer=None):
    s = socket.socket()
    s.settimeout(timeout)
    if buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    s.connect(('127.0.0.1', port))
    return s


def request(method, path, *fields, body=b'', host='127.0.0.1'):
    lines = [f'{method} {path} HTTP/1.1', f'Host: {host}', *fields]
    if body:
        lines.append(f'Content-Length: {len(body)}')
    return '\r\n'.join(lines).encode() + b'\r\n\r\n' + body


def ask(port, octets):
    """(status, body) of the answer."""
    with connect(port) as s:
        with contextlib.suppress(ConnectionError):
            s.sendall(octets)
        answer = b''
        with contextlib.suppress(ConnectionResetError):
            while chunk := s.recv(65536):
                answer += chunk
    head, _, body = answer.partition(b'\r\n\r\n')
    return (int(head.split(b' ', 2)[1]) if head.startswith(b'HTTP/1.1 ') else 0), body


class Stream:
    """An answer that goes on, read by a thread; `rest` is what came since the head."""

    def __init__(self, port, octets):
        self.socket = connect(port)
        self.socket.sendall(octets)
        self.octets, self.has_ended = b'', False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        wait_until(lambda: b'\r\n\r\n' in self.octets or self.has_ended, 'the head of an answer', PATIENCE)
        self.status = int(self.octets.split(b' ', 2)[1])

    def read(self):
        with contextlib.suppress(OSError):
            while chunk := self.socket.recv(65536):
                self.octets += chunk
        self.has_ended = True

    @property
    def rest(self):
        return self.octets.partition(b'\r\n\r\n')[2]

    def close(self):
        # The thread still reads: closing alone would not end the connection.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Events(Stream):
    """Server-sent events; each is (id, event, data)."""

    def __init__(self, port, query='', *fields):
        super().__init__(port, request('GET', '/events' + query, *fields))

    @property
    def events(self):
        found = []
        for part in self.rest.decode(errors='replace').split('\n\n')[:-1]:
            event = dict(line.split(': ', 1) for line in part.split('\n') if ': ' in line)
            if 'data' in event:
                found.append((event['id'], event['event'], json.loads(event['data'])))
        return found

    def wait(self, wanted, what, count=1):
        return wait_until(lambda: (lambda f: f if len(f) >= count else None)([e for e in self.events if wanted(*e)]), what, PATIENCE)


class Lines(Stream):
    """An answer of JSON objects, one in a line."""

    @property
    def lines(self):
        return [json.loads(line) for line in self.rest.decode().split('\n')[:-1] if line]

    def wait_end(self):
        wait_until(lambda: self.has_ended, lambda: f'the end of {self.octets!r}', PATIENCE)
        return self.lines


def broken(generator, octets):
    """These octets with something wrong."""
    octets = bytearray(octets)
    for _ in range(generator.randint(1, 4)):
        place = generator.randrange(len(octets) or 1)
        match generator.randrange(4):
            case 0: octets[place:place + 1] = bytes([generator.randrange(256)])
            case 1: del octets[place:place + generator.randint(1, 8)]
            case 2: octets[place:place] = generator.randbytes(generator.randint(1, 8))
            case 3: octets = octets[:place]
    return bytes(octets)
