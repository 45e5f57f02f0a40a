"""A device at the other end of the link: L2CAP, ATT in both roles, pairing. Independent of our stack; remembers all it was sent.

  peer = Peer(controller, 'C0:00:00:00:00:01', name='Lock', services=['180D'])
  peer.server                    its attributes (attributes.Server)
  peer.advertise()               a peripheral: the host finds it and connects; peer.wait_link()
  peer.connect()                 a central: connects to the host, which advertises
  peer.request(pdu)              the answer of the host's server; read(), write(), find(), subscribe(), values()
  peer.notify(handle, value)     to the host's client; indicate() waits for the confirmation
  peer.signal(code, parameters)  signalling: the answer; peer.open_channel(psm) gives a Channel; peer.listen(psm)
  peer.pair(**settings)          pairs as the initiator (smp.Pairing): peer.keys is the bond
  peer.pairing = {…}             how it answers a pairing as the responder; None refuses with Pairing Not Supported
  peer.encrypt()                 as the central: True, or False where the host has lost the key
  peer.heard                     every frame of the host: Heard(time, channel, payload, encrypted, link)
  peer.gatt_in_clear()           what of GATT the host sent before the link was encrypted

A peer that keeps `keys` encrypts, and one that lost them (peer.keys = None) says PIN or Key Missing: that is the honest default.
`address` may be changed between links; `identity` and `irk` are what it distributes."""
import collections, itertools, os, queue, struct, threading, time

from jelling.attributes import REQUESTS, Server, uuid
from jelling.controller import Device
from jelling.child import PATIENCE, wait_until
from jelling import smp

ATT, SIGNALS, SMP = 4, 5, 6
Heard = collections.namedtuple('Heard', 'time channel payload encrypted link')


def resolvable(irk):
    """A resolvable private address of this identity key (Core 5.4, Vol 6, Part B, 1.3.2.2)."""
    prand = os.urandom(3)
    prand = bytes([prand[0] & 0x3F | 0x40]) + prand[1:]
    return (prand + smp.aes(irk, bytes(13) + prand)[-3:]).hex(':').upper()


class Channel:
    """A credit-based channel. `credits` are ours to use; the host gets `give` more with each frame that came."""

    def __init__(self, peer, ours, theirs, mtu, mps, credits, give):
        self.peer, self.ours, self.theirs, self.mtu, self.mps = peer, ours, theirs, mtu, mps
        self.credits, self.give, self.frames = credits, give, queue.Queue()

    def send(self, data):
        sdu = struct.pack('<H', len(data)) + data
        for at in range(0, len(sdu), self.mps):
            end = time.monotonic() + 20
            while self.credits <= 0:
                assert time.monotonic() < end, 'no credits of the host in 20 s'
                time.sleep(0.005)
            self.credits -= 1
            self.peer.link.send(self.theirs, sdu[at:at + self.mps])

    def took(self, frame):
        self.frames.put(frame)
        if self.give:
            self.peer.send(SIGNALS, struct.pack('<BBHHH', 0x16, self.peer.next_identifier(), 4, self.ours, self.give))


class Peer(Device):
    def __init__(self, controller, address='C0:00:00:00:00:01', random=True, name='Lock', services=(), server=None):
        super().__init__(address, random)
        self.controller, self.name, self.server = controller, name, server or Server()
        self.server.authorized = lambda link, needs: link.encrypted and (
            needs != 'authentication' or bool(self.keys and self.keys.authenticated))
        self.data = b'\x02\x01\x06' + b''.join(bytes([1 + len(u), 3 if len(u) == 2 else 7]) + u for u in map(uuid, services))
        encoded = name.encode()[:29]
        self.scan_response = bytes([len(encoded) + 1, 9]) + encoded if name else b''
        self.identity, self.irk, self.csrk = None, os.urandom(16), os.urandom(16)
        self.keys, self.pairing, self.pairings = None, {}, []
        self.temporary_key = None          # of a pairing that goes on: the host encrypts with it
        self.link, self.links, self.mtu = None, [], 23
        self.heard, self.changed = [], threading.Condition()
        self.answers, self.client, self.signals = queue.Queue(), queue.Queue(), queue.Queue()
        self.security = queue.Queue()      # PDUs of the security manager, for the pairing that goes on
        self.channels, self.psms, self.identifiers = {}, {}, itertools.count()
        self.accepts_updates = True
        self.confirms = True               # whether indications of the host are confirmed at once

    # Links

    def advertise(self):
        self.controller.add(self)
        return self

    def connect(self, seconds=PATIENCE):
        self.controller.connect(self, seconds)
        return self

    def connected(self, link):
        with self.changed:
            self.link, self.mtu = link, 23
            self.links.append(link)
            for waiting in (self.answers, self.client, self.signals, self.security):
                while not waiting.empty():
                    waiting.get()
            self.channels.clear()
            self.temporary_key = None
            self.changed.notify_all()

    def ended(self, link, reason):
        for waiting in (self.answers, self.security, self.signals):
            waiting.put(None)
        with self.changed:
            self.changed.notify_all()

    def wait_link(self, count=1, seconds=PATIENCE):
        self.wait(lambda: len(self.links) >= count, f'{count} links', seconds)
        return self.links[count - 1]

    def wait(self, condition, what, seconds=PATIENCE):
        wait_until(condition, lambda: f'{self.name}: no {what}; heard last {[h.payload.hex() for h in self.heard[-4:]]}', seconds, 0.01)

    def wait_end(self, seconds=PATIENCE):
        self.wait(lambda: self.link and not self.link.open, 'end of the link', seconds)

    def disconnect(self, reason=0x13):
        if self.link and self.link.open:
            self.link.disconnect(reason)

    def send(self, channel, payload):
        return self.link.send(channel, payload)

    # What comes

    def received(self, link, channel, payload):
        with self.changed:
            self.heard.append(Heard(time.monotonic(), channel, payload, link.encrypted, link.number))
            self.changed.notify_all()
        if channel == ATT and payload:
            self.take_attribute(link, payload)
        elif channel == SIGNALS:
            self.take_signal(link, payload)
        elif channel == SMP and payload:
            self.take_security(payload)
        elif channel in self.channels:
            self.channels[channel].took(payload)

    def take_attribute(self, link, pdu):
        if pdu[0] not in REQUESTS:
            if pdu[0] == 0x1D and self.confirms:
                link.send(ATT, b'\x1e')
            (self.client if pdu[0] in (0x1B, 0x1D, 0x23) else self.answers).put(pdu)
            return
        answer = self.server.answer(link, pdu, self.mtu)
        if answer:
            if pdu[0] == 0x02 and answer[0] == 0x03:
                self.mtu = max(23, min(struct.unpack_from('<H', pdu, 1)[0], self.server.mtu))
            link.send(ATT, answer)

    def take_security(self, pdu):
        if pdu[0] == 0x01 and not self.temporary_key_is_awaited():
            if self.pairing is None:
                self.send(SMP, b'\x05\x05')
                return
            pairing = smp.Pairing(self, False, **self.pairing)
            self.pairings.append(pairing)
            pairing.begin(pdu)
        elif pdu[0] != 0x0B:
            self.security.put(pdu)

    def temporary_key_is_awaited(self):
        return bool(self.pairings) and self.pairings[-1].is_running

    def find_key(self, link, rand, ediv):
        if self.temporary_key is not None and (rand, ediv) == (0, 0):
            return self.temporary_key
        return self.keys.find(rand, ediv) if self.keys else None

    # Signalling

    def next_identifier(self):
        return next(self.identifiers) % 255 + 1

    def take_signal(self, link, payload):
        if len(payload) < 4:
            return
        code, identifier, _ = struct.unpack_from('<BBH', payload)
        parameters = payload[4:]

        def answer(code, parameters):
            link.send(SIGNALS, struct.pack('<BBH', code, identifier, len(parameters)) + parameters)

        if code == 0x12:
            answer(0x13, struct.pack('<H', 0 if self.accepts_updates else 1))
        elif code == 0x14:
            psm, theirs, mtu, mps, credits = struct.unpack_from('<HHHHH', parameters)
            if psm not in self.psms:
                answer(0x15, struct.pack('<HHHHH', 0, 0, 0, 0, 2))
                return
            channel = Channel(self, 0x40 + len(self.channels), theirs, mtu, mps, credits, self.psms[psm][1])
            self.channels[channel.ours] = channel
            answer(0x15, struct.pack('<HHHHH', channel.ours, 512, 247, self.psms[psm][0], 0))
        elif code == 0x16:
            theirs, credits = struct.unpack_from('<HH', parameters)
            for channel in self.channels.values():
                if channel.theirs == theirs:
                    channel.credits += credits
        elif code == 0x06:
            answer(0x07, parameters)
        else:
            self.signals.put((code, identifier, parameters))

    def signal(self, code, parameters, seconds=PATIENCE):
        """Sends a request; (code, parameters) of the answer."""
        identifier = self.next_identifier()
        self.send(SIGNALS, struct.pack('<BBH', code, identifier, len(parameters)) + parameters)
        while True:
            try:
                found = self.signals.get(timeout=seconds)
            except queue.Empty:
                raise AssertionError(f'no answer to signal {code:#x} in {seconds} s') from None
            assert found, 'the link ended before the answer to a signal'
            if found[1] == identifier:
                return found[0], found[2]

    def listen(self, psm, credits=8, give=1):
        self.psms[psm] = credits, give

    def open_channel(self, psm, mtu=512, mps=247, credits=8, give=1):
        """A Channel, or the result (int) by which the host refused it."""
        ours = 0x40 + len(self.channels)
        code, parameters = self.signal(0x14, struct.pack('<HHHHH', psm, ours, mtu, mps, credits))
        if code != 0x15:
            return code
        theirs, their_mtu, their_mps, granted, result = struct.unpack_from('<HHHHH', parameters)
        if result:
            return result
        self.channels[ours] = Channel(self, ours, theirs, their_mtu, their_mps, granted, give)
        return self.channels[ours]

    # ATT client

    def request(self, pdu, seconds=PATIENCE):
        self.send(ATT, pdu)
        try:
            answer = self.answers.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f'{self.name}: no answer to {pdu.hex()} in {seconds} s') from None
        assert answer is not None, f'{self.name}: the link ended ({self.link.reason:#x}) before the answer to {pdu.hex()}'
        return answer

    def exchange_mtu(self, mtu=247):
        answer = self.request(struct.pack('<BH', 0x02, mtu))
        self.mtu = max(23, min(mtu, struct.unpack_from('<H', answer, 1)[0]))
        return self.mtu

    def find(self, kind):
        """The handle of the value of the first characteristic with this UUID."""
        start = 1
        while True:
            answer = self.request(struct.pack('<BHHH', 0x08, start, 0xFFFF, 0x2803))
            assert answer[0] == 0x09, f'no characteristic {kind}: {answer.hex()}'
            for at in range(2, len(answer) - 1, answer[1]):
                entry = answer[at:at + answer[1]]
                if entry[5:] == uuid(kind):
                    return struct.unpack_from('<H', entry, 3)[0]
                start = struct.unpack_from('<H', entry)[0] + 1

    def read(self, handle):
        """The value, or the error code (int)."""
        answer = self.request(struct.pack('<BH', 0x0A, handle))
        return answer[1:] if answer[0] == 0x0B else answer[4]

    def write(self, handle, value):
        """0, or the error code."""
        answer = self.request(struct.pack('<BH', 0x12, handle) + value)
        return 0 if answer[0] == 0x13 else answer[4]

    def command(self, handle, value):
        self.send(ATT, struct.pack('<BH', 0x52, handle) + value)

    def subscribe(self, handle, bits=1):
        """Writes the configuration, which our server keeps right after the value."""
        return self.write(handle + 1, struct.pack('<H', bits))

    def values(self, count, seconds=PATIENCE):
        """The next notifications and indications: (handle, value)."""
        found, end = [], time.monotonic() + seconds
        while len(found) < count:
            try:
                pdu = self.client.get(timeout=max(0.001, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f'{self.name}: {len(found)} of {count} values in {seconds} s') from None
            found.append((struct.unpack_from('<H', pdu, 1)[0], pdu[3:]))
        return found

    # ATT server

    def notify(self, handle, value):
        return self.send(ATT, struct.pack('<BH', 0x1B, handle) + value)

    def indicate(self, handle, value, seconds=PATIENCE):
        """Whether the host confirmed it."""
        self.send(ATT, struct.pack('<BH', 0x1D, handle) + value)
        try:
            return self.answers.get(timeout=seconds) == b'\x1e'
        except queue.Empty:
            return False

    def sent(self, channel=ATT, encrypted=None, opcodes=None):
        """What the host sent on this channel."""
        return [h.payload for h in self.heard if h.channel == channel and encrypted in (None, h.encrypted)
                and (opcodes is None or h.payload[:1] and h.payload[0] in opcodes)]

    def gatt_in_clear(self, link=None):
        """PDUs of GATT that the host sent unencrypted, but for MTU exchange and errors; on one link, or on all."""
        return [h.payload for h in self.heard if h.channel == ATT and not h.encrypted and h.payload
                and h.payload[0] not in (0x01, 0x02, 0x03) and (link is None or h.link == link.number)]

    # Security

    def pair(self, wait=True, **settings):
        """Pairs as the initiator; the Pairing. Where `wait`, it must succeed."""
        pairing = smp.Pairing(self, True, **settings)
        self.pairings.append(pairing)
        pairing.begin()
        if wait:
            pairing.wait_end()
            assert pairing.failure is None, f'{self.name}: pairing failed: {pairing.failure}'
        return pairing

    def wait_pairing(self, count=1, seconds=PATIENCE):
        """The count-th pairing, at its end."""
        self.wait(lambda: len(self.pairings) >= count, f'{count} pairings', seconds)
        self.pairings[count - 1].wait_end(seconds)
        return self.pairings[count - 1]

    def request_security(self, requirements=1):
        self.send(SMP, bytes([0x0B, requirements]))

    def encrypt(self):
        """As the central, with the keys of the bond."""
        key, rand, ediv = self.keys.theirs
        return self.link.encrypt(key, rand, ediv)
