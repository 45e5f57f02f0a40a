"""Cases of whose pairing it is: programs of several users on one link, or with services for one central, and the questions of their
pairings. Bumble is at the other end."""
import os, socket, threading, time

from jelling.daemon import LIMIT, NOBODY, OTHER, Client, Daemon, as_user, messages, needs_root
from jelling.programs import EXAMPLES
from jelling import lab as bench
from daemon import test_sharing as sharing

NOT_PERMITTED, REFUSED_BY_US, ALREADY_PAIRING, REPEATED_ATTEMPTS, PASSKEY_LOCKED = (messages.Failure.Reason.Value(f'REASON_{name}') for name in (
    'NOT_PERMITTED', 'REFUSED_BY_US', 'ALREADY_PAIRING', 'REPEATED_ATTEMPTS', 'PASSKEY_LOCKED'))
DISPLAY_YES_NO, KEYBOARD, NOTHING = 1, 2, 3
# Of Bumble's peer: needs a key that is protected against others.
AUTHENTICATED = '6B7A0007-9D1C-4F5E-8A2B-3C4D5E6F7081'


def options(capability, **more):
    """Bonding, LE Secure Connections, keys of 16 octets."""
    return {'io_capability': capability, 'is_bonding': True, 'allows_secure_connections': True, 'minimum_key_size': 16,
            'maximum_key_size': 16, 'initiator_keys': 7, 'responder_keys': 7, **more}


class Program(Client):
    """A tool of some user. What it is told of pairings is kept; it answers nothing by itself."""

    def __init__(self, daemon, user=None, pairing=None):
        super().__init__(daemon.path, user=user)
        self.progress, self.ends, self.links = [], {}, []
        self.changed = threading.Condition()
        self.welcome = self.greeted()
        threading.Thread(target=self.hear, daemon=True).start()
        if pairing:
            self.done(serve_pairing=pairing)

    def hear(self):
        try:
            while (message := self.receive()) is not None:
                with self.changed:
                    if message.HasField('completed'):
                        self.ends[message.completed.operation] = message.completed
                    self.progress += [message.pairing] if message.HasField('pairing') else []
                    self.links += [message.central_connected.link] if message.HasField('central_connected') else []
                    self.changed.notify_all()
        except OSError:
            pass

    def wait_for(self, what, test):
        with self.changed:
            assert self.changed.wait_for(test, LIMIT), f'{what}: {self.progress}, {list(self.ends.values())[-3:]}'
            return test()

    def end_of(self, operation):
        return self.wait_for('an end', lambda: self.ends.get(operation))

    def done(self, **command):
        end = self.end_of(self.request(**command))
        assert not end.HasField('failure'), (command, end.failure)
        return end

    def reason(self, **command):
        end = self.end_of(self.request(**command))
        return end.failure.reason if end.HasField('failure') else None

    def connect(self, peer):
        return self.done(connect={'peer': peer.wire, 'establishment_retries': 5}).link

    def connect_again(self, peer, link):
        """A link of its own: Bumble answers nothing to a second pairing on one."""
        self.done(disconnect={'link': link})
        return self.connect(peer)

    def questions(self):
        return [event.question for event in self.progress if event.HasField('question')]

    def question(self, count=1):
        return self.wait_for('a question', lambda: self.questions()[count - 1:] or None)[0]

    def answer(self, question, yes=True):
        """Its end says whether the question was open for it."""
        return self.done(answer_pairing={'question': question.question, 'confirm': yes})

    def leave(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Stage:
    """bled on Bumble's air, with ordinary users who may connect."""

    def __init__(self, *peer):
        self.lab = bench.Lab('bumble', 2).open(peer=False)
        self.lab.every_link_ends_by_us = False
        self.peer = sharing.Peer(self.lab, 0x21, *peer) if peer else None

    def __enter__(self):
        try:
            self.daemon = Daemon(allow=[NOBODY, OTHER], adapter=self.lab.endpoint).__enter__()
        except BaseException:
            self.lab.close()
            raise
        return self

    def __exit__(self, *what):
        try:
            self.daemon.__exit__(*what)
        finally:
            self.lab.close()

    def program(self, user=None, pairing=None):
        return Program(self.daemon, user, pairing)

    def bonds(self):
        client = self.daemon.connect()
        client.socket.close()
        return list(client.welcome.bonds)


def uuid(text):
    return bytes.fromhex(text.replace('-', ''))


def read(link):
    """Of the peer's value that needs a key which is protected against others."""
    return {'gatt': {'link': link, 'read_using_uuid': {'uuid': uuid(AUTHENTICATED), 'range': {'first': 1, 'last': 0xFFFF}}}}


@needs_root
def test_pairing_asks_its_owner():
    """of two users on one link, the one whose read needs a pairing is asked, also a tool; the other's answer and weakness count for nothing"""
    for weakness in DISPLAY_YES_NO, NOTHING:
        with Stage('--io', 'yesno') as stage:
            # The one is first on the link, and the last to say how it pairs.
            one, two = stage.program(NOBODY), stage.program(OTHER, options(DISPLAY_YES_NO))
            one.connect(stage.peer)
            link = two.connect(stage.peer)
            one.done(serve_pairing=options(weakness))
            reading = two.request(**read(link))
            question = two.question()
            assert question.HasField('compare'), f'no comparison: {question}'
            assert one.answer(question, False).accepted is False, 'another user has answered'
            assert two.answer(question).accepted is True
            assert not two.end_of(reading).HasField('failure'), two.ends[reading]
            paired = stage.peer.paired()
            assert paired['authenticated'], paired
            assert not one.questions() and not one.progress, one.progress


@needs_root
def test_pairing_of_an_app_of_another_user():
    """an app of Core Bluetooth is asked for the passkey of its own pairing, however often another user's tool says that it asks nobody"""
    with Stage('--io', 'display', '--mitm', '--passkey', '123456') as stage:
        other, has_ended = stage.program(NOBODY), threading.Event()

        def repeat():
            while not has_ended.wait(0.02):
                other.done(serve_pairing=options(NOTHING))

        repeating = threading.Thread(target=repeat)
        repeating.start()
        try:
            app = as_user(OTHER, [], 'env', f'JELLING_SOCKET={stage.daemon.path}', os.path.join(EXAMPLES, 'protected-reader'), '180D',
                          AUTHENTICATED, '123456')
        finally:
            has_ended.set()
            repeating.join(LIMIT)
        assert app.returncode == 0 and 'very secret' in app.stdout and '"asked"' in app.stdout, app
        assert not other.progress, other.progress
        assert stage.peer.paired()['authenticated']


@needs_root
def test_pairing_is_not_weakened():
    """what an operator's program requires holds when an ordinary user pairs with the weakest options; no bond appears"""
    with Stage('--io', 'none') as stage:
        operator = stage.program(None, options(DISPLAY_YES_NO, requires_authentication=True))
        operator.done(publish={'uuid': b'\x18\x0f', 'is_primary': True})
        weak = stage.program(NOBODY)
        link = weak.connect(stage.peer)
        # Keys of seven octets, nobody to ask.
        for shape in options(NOTHING, minimum_key_size=7, maximum_key_size=7), options(NOTHING), options(DISPLAY_YES_NO, allows_secure_connections=False):
            assert weak.reason(pair={'link': link, 'options': shape}) == REFUSED_BY_US, 'it has paired'
            link = weak.connect_again(stage.peer, link)
        assert stage.bonds() == []
        # Without the operator's program the choice is the user's own.
        operator.done(leave={})
        assert weak.reason(pair={'link': link, 'options': options(NOTHING)}) is None
        assert len(stage.bonds()) == 1


@needs_root
def test_requirements_of_a_server_are_operators():
    """an ordinary user's requirements hold for its own pairings; as a server, which could not rely on them, it is refused"""
    with Stage('--io', 'none') as stage:
        strict = stage.program(NOBODY, options(DISPLAY_YES_NO, requires_authentication=True))
        for request in {'publish': {'uuid': b'\x18\x0f', 'is_primary': True}}, {'advertise': {'packed': {}}}, {'listen': {}}:
            assert strict.reason(**request) == NOT_PERMITTED, request
        link = strict.connect(stage.peer)
        assert strict.reason(pair={'link': link, 'options': options(DISPLAY_YES_NO, requires_authentication=True)}) == REFUSED_BY_US
        link = strict.connect_again(stage.peer, link)
        other = stage.program(OTHER, options(NOTHING))
        assert other.connect(stage.peer) == link
        assert other.reason(pair={'link': link, 'options': options(NOTHING)}) is None


@needs_root
def test_consent_of_an_operator():
    """a central gets no bond without the consent that an operator's server wants, however another user's program has it pair"""
    for how in '--await-security-request', '--pair-first':
        with Stage() as stage:
            operator = stage.program(None, options(DISPLAY_YES_NO, asks_consent=True))
            operator.done(publish={'uuid': b'\x18\x0f', 'is_primary': True})
            other = stage.program(NOBODY, options(NOTHING))
            other.done(publish={'uuid': b'\x18\x1c', 'is_primary': True})
            advertising = operator.request(advertise={'packed': {'local_name': 'Lock'}, 'is_connectable': True, 'resumes_after_connection': True})
            central = stage.lab.central('--name', 'Lock', how, '--skip-gatt', '--hold', '60')
            other.wait_for('a central', lambda: other.links)
            if how == '--await-security-request':
                other.request(pair={'link': other.links[0], 'options': options(NOTHING)})
            question = operator.question()
            assert question.HasField('consent'), f'no consent: {question}'
            assert other.answer(question).accepted is False and not other.questions(), 'another user has agreed'
            assert operator.answer(question, False).accepted is True
            operator.wait_for('the end', lambda: any(event.HasField('failed') for event in operator.progress))
            assert stage.bonds() == [], how
            assert advertising not in operator.ends
            central.end()


@needs_root
def test_wrong_passkeys_of_users():
    """a user whose wrong passkeys are locked does not lock them for another one, at the same device or at one that has that passkey"""
    wrong, right = 111_111, 123_456
    with Stage('--io', 'display', '--mitm', '--passkey', str(right)) as stage:
        typed = lambda passkey: options(KEYBOARD, requires_authentication=True, passkey=passkey)
        pair = lambda program, link, passkey: program.reason(pair={'link': link, 'options': typed(passkey)})
        guesser, failures = stage.program(NOBODY), []
        link = guesser.connect(stage.peer)
        # Each failure makes this user wait longer before the next attempt.
        while PASSKEY_LOCKED not in failures:
            failures.append(pair(guesser, link, wrong))
            assert failures[-1] is not None and len(failures) < 60, failures
            if failures[-1] == REPEATED_ATTEMPTS:
                time.sleep(0.5)
            elif failures[-1] != PASSKEY_LOCKED:
                link = guesser.connect_again(stage.peer, link)
        assert len(failures) > failures.count(REPEATED_ATTEMPTS) + 1, failures
        other = stage.program(OTHER)
        guesser.done(disconnect={'link': link})
        assert pair(other, other.connect(stage.peer), right) is None
        assert stage.peer.paired()['authenticated']
        stage.peer.child.end()
        second = sharing.Peer(stage.lab, 0x22, '--io', 'display', '--mitm', '--passkey', str(wrong))
        link = guesser.connect(second)
        assert pair(guesser, link, wrong) in (PASSKEY_LOCKED, REPEATED_ATTEMPTS), 'it is not locked for the one who failed'
        guesser.done(disconnect={'link': link})
        assert pair(other, other.connect(second), wrong) is None
        tries = len(failures) - failures.count(REPEATED_ATTEMPTS) - 1
        print(f'locked after {tries} attempts')


@needs_root
def test_pairing_ends_with_who_is_asked():
    """when the program that is asked is killed, its pairing ends at once, and another user can pair"""
    with Stage('--io', 'yesno') as stage:
        one, two = stage.program(NOBODY, options(DISPLAY_YES_NO)), stage.program(OTHER, options(DISPLAY_YES_NO))
        link = one.connect(stage.peer)
        two.connect(stage.peer)
        one.request(**read(link))
        one.question()
        assert two.reason(pair={'link': link, 'options': options(DISPLAY_YES_NO)}) == ALREADY_PAIRING
        one.leave()
        stage.lab.wait_peer('pairing-failed')
        link = two.connect_again(stage.peer, link)
        reading = two.request(**read(link))
        question = two.question()
        assert two.answer(question).accepted is True
        assert not two.end_of(reading).HasField('failure'), two.ends[reading]
        assert stage.peer.paired()['authenticated']
