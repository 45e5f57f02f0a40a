"""Sessions with bled in the classes that are generated from Protocol/bled.proto: of tools, apps and operators. For the tests, and for
programs of every user, which find this in a folder of their own (jelling/daemon.py)."""
import os, socket

from jelling import client

try:
    import bled_pb2 as messages
except ImportError:
    import sys

    import grpc

    from jelling.programs import ROOT

    sys.path.append(os.path.join(ROOT, 'Protocol'))
    messages = grpc.protos('bled.proto')

HEART = {'value': 0xC0DE_0000_0001, 'kind': 1}
# Seconds; ends what hangs.
LIMIT = int(os.environ.get('LIMIT', 120))
POWERED_ON = 5


def octets(**fields):
    """A message to the daemon."""
    return messages.FromClient(**fields).SerializeToString()


def connected_as(user, path):
    """A socket that a process of this user has connected. The process stays, for the daemon looks at it."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        try:
            ours.close()
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            with socket.socket(socket.AF_UNIX) as own:
                own.connect(path)
                socket.send_fds(theirs, [b'1'], [own.fileno()])
            theirs.recv(1)
        finally:
            os._exit(0)
    theirs.close()
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    return socket.socket(fileno=descriptors[0]), ours


class Client(client.Client):
    """A tool. What it sends is given by the names of fields; what it receives are messages of the generated classes."""

    def __init__(self, path, timeout=LIMIT, user=None):
        if user is None:
            super().__init__(path, timeout)
        else:
            self.socket, self.life = connected_as(user, path)
            self.socket.settimeout(timeout)
            self.number = 0

    def greeted(self):
        """The daemon's welcome."""
        answer = self.greet()
        assert answer and answer.HasField('welcome'), f'not welcome: {answer}'
        return answer.welcome

    def send(self, **fields):
        self.send_octets(octets(**fields))

    def receive(self):
        """The next message; None at the end of the connection."""
        content = self.receive_octets()
        return None if content is None else messages.FromDaemon.FromString(content)

    def greet(self):
        """The daemon's answer: `welcome` or `refusal`."""
        self.send(hello={'version': 1, 'session': messages.SESSION_KIND_TOOL})
        return self.receive()

    def request(self, **command):
        """Begins an operation; returns its number."""
        self.number += 1
        self.send(request={'operation': self.number, **command})
        return self.number

    def request_all(self, commands):
        """Begins operations in one write."""
        whole = b''
        for command in commands:
            self.number += 1
            whole += self.framed(octets(request={'operation': self.number, **command}))
        self.socket.sendall(whole)

    def end(self, operation):
        """What `completed` says of an operation; other messages are skipped."""
        while (message := self.receive()) is not None:
            if message.HasField('completed') and message.completed.operation == operation:
                return message.completed

    def done(self, **command):
        """The end of a request."""
        return self.end(self.request(**command))

    def found(self, holds=lambda discovered: True):
        """The address of the first device that a scan finds and for which this holds."""
        scan = self.request(scan={'is_active': True})
        while not (message := self.receive()).HasField('discovered') or not holds(message.discovered):
            pass
        self.done(cancel={'operation': scan})
        return message.discovered.address

    def connected(self, peer, **more):
        """The link to a device."""
        end = self.done(connect={'peer': peer, 'establishment_retries': 5, **more})
        assert end and end.HasField('link'), end
        return end.link


class AppClient(Client):
    """An app; by default with one manager, that of a central."""

    def __init__(self, path, name, user=None, timeout=LIMIT, **hello):
        super().__init__(path, timeout, user)
        self.taken = 0
        self.send(hello={'version': 1, 'session': messages.SESSION_KIND_APP, 'app': {'identifier': name, **hello}})
        answer = self.receive()
        assert answer and answer.HasField('app_welcome'), f'not welcome: {answer}'
        self.welcome = answer.app_welcome

    def ask(self, manager=1, **request):
        self.send(app_request={'manager': manager, **request})

    def returns(self, event):
        """Says that the app has handled an event."""
        self.send(app_returned={'manager': event.manager, 'events': 1})

    def event(self, kind):
        """The next one of this kind."""
        while (message := self.receive()) is not None:
            if message.HasField('app_event') and message.app_event.HasField(kind):
                return getattr(message.app_event, kind)
        raise AssertionError(f'no event {kind}')

    def finds(self, service):
        """The first device that a scan for a service finds."""
        self.ask(create_central={})
        # What is asked for before poweredOn is dropped.
        while self.event('state_changed').state != POWERED_ON:
            pass
        self.ask(scan={'services': [bytes.fromhex(service)]})
        self.found = self.event('discovered').peripheral.peer
        return self.found


def operator(path, **request):
    """An operator's session, after the answer to this request."""
    client = Client(path)
    client.send(hello={'version': 1, 'session': messages.SESSION_KIND_OPERATOR})
    answer = client.receive()
    assert answer and answer.HasField('welcome'), f'no operator: {answer}'
    if request:
        client.send(operator_request=request)
        assert client.receive().HasField('operator_answer')
    return client
