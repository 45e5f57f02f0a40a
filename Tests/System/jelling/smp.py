"""Pairing at the peer's side, both roles, legacy and Secure Connections, every model; honest until a case makes it misbehave.

  peer.pair(io=KEYBOARD, mitm=True, passkey=123456)      initiates; peer.pairing = {…} sets how it responds
    secure, bonding, mitm, io, oob    of the Pairing Request or Response; `requirements` overrides the whole octet
    size                              the largest key that it offers; the smallest that it takes is 7
    initiator_keys, responder_keys    the key fields (1 EncKey, 2 IdKey, 4 SignKey, 8 LinkKey)
    passkey                           shown and typed: a number, or a function that gives it when it is needed
    compare                           function(number): whether the numbers are the same; default yes
    temporary_key                     of legacy pairing, out of band
    tamper                            function(pairing, name, pdu): the PDU to send in its place; None sends nothing; may raise
                                      Stop to go no further. Names: request, response, public key, confirm, random, check,
                                      key (each distribution PDU); pairing.round counts the passkey's rounds
    keeps                             whether keys become peer.keys: by default where it bonds
    distributes                       False: sends none of the keys that were agreed
    waits_for_keys                    False: ends without waiting for the host's keys
    seconds                           how long it waits for a PDU
  pairing.wait_end(), pairing.failure  None, or why it failed: the reason (int) of Pairing Failed, or text
  pairing.number, pairing.model        what was compared; the association model
  pairing.received                     the host's PDUs by opcode: {0x08: [IRK PDU], …}

The functions of the specification are those of Tools/Vectors/pairing_transcripts.py. Keys are most significant octet first."""
import os, queue, threading, time

from cryptography.hazmat.primitives.asymmetric import ec
from jelling.child import PATIENCE
from pairing_transcripts import (   # noqa: F401, cases use them
    BOTH, BY_INITIATOR, BY_RESPONDER, COMPARE, DISPLAY, JUST, KEYBOARD, MODELS, NOTHING, OOB, PASSKEY, TYPED, YES_NO,
    aes, c1, cmac, f4, f5, f6, g2, s1, xor)

FAILED, SMP_CHANNEL = 0x05, 6
CONFIRM_FAILED, CHECK_FAILED, COMPARISON_FAILED = 0x04, 0x0B, 0x0C


class Stop(Exception):
    """Raised by `tamper`: the peer stops here."""


class PairingFailed(Exception):
    def __init__(self, reason, tell=True):
        self.reason, self.tell = reason, tell


class Keys:
    """A bond at the peer. `ours` and `theirs` are (key, rand, ediv): used where the peer is the peripheral, or the central."""

    def __init__(self, ours=None, theirs=None, secure=False, authenticated=False, size=16):
        self.ours, self.theirs, self.secure, self.authenticated, self.size = ours, theirs, secure, authenticated, size
        self.irk = self.identity = self.csrk = None     # the host's; identity is (random, address)

    def find(self, rand, ediv):
        return self.ours[0] if self.ours and self.ours[1:] == (rand, ediv) else None


class Pairing:
    def __init__(self, peer, initiates, secure=True, bonding=True, mitm=False, io=NOTHING, oob=False, requirements=None,
                 size=16, initiator_keys=7, responder_keys=7, passkey=None, compare=None, temporary_key=None, tamper=None,
                 keeps=None, distributes=True, waits_for_keys=True, identity=None, irk=None, seconds=PATIENCE):
        self.peer, self.initiates, self.side = peer, initiates, 0 if initiates else 1
        self.size = size
        self.requirements = (bool(bonding) | mitm << 2 | secure << 3) if requirements is None else requirements
        self.features = bytes([io, bool(oob), self.requirements, size, initiator_keys, responder_keys])
        self.passkey, self.compare, self.given_key = passkey, compare, temporary_key
        self.tamper = tamper or (lambda pairing, name, pdu: pdu)
        self.keeps = bool(self.requirements & 1) if keeps is None else keeps
        self.distributes, self.waits_for_keys = distributes, waits_for_keys
        self.identity, self.irk = identity, irk
        self.link, self.failure, self.is_running, self.done = peer.link, None, False, threading.Event()
        self.model = self.number = None
        self.round, self.received, self.seconds = 0, {}, seconds

    def begin(self, request=None):
        self.is_running = True
        while not self.peer.security.empty():
            self.peer.security.get()
        threading.Thread(target=self.run, args=(request,), daemon=True).start()

    def wait_end(self, seconds=PATIENCE):
        assert self.done.wait(seconds), f'pairing goes on after {seconds} s'
        return self

    def run(self, request):
        try:
            self.exchange(request)
        except PairingFailed as failed:
            self.failure = failed.reason
            if failed.tell:
                self.peer.send(SMP_CHANNEL, bytes([FAILED, failed.reason]))
        except Stop:
            self.failure = 'stopped'
        except Exception as error:   # told by wait_end's caller
            self.failure = repr(error)
        finally:
            self.is_running = False
            if self.failure is not None:
                self.peer.temporary_key = None
            self.done.set()

    # PDUs

    def say(self, name, pdu):
        pdu = self.tamper(self, name, pdu)
        if pdu is not None:
            self.peer.send(SMP_CHANNEL, pdu)
        return pdu

    def hear(self, *wanted):
        while True:
            try:
                pdu = self.peer.security.get(timeout=self.seconds)
            except queue.Empty:
                raise PairingFailed(f'no {[hex(w) for w in wanted]} in {self.seconds} s', tell=False) from None
            if pdu is None:
                raise PairingFailed('the link ended', tell=False)
            self.received.setdefault(pdu[0], []).append(pdu)
            if pdu[0] == FAILED:
                raise PairingFailed(pdu[1], tell=False)
            if pdu[0] in wanted:
                return pdu

    def exchange(self, request):
        if self.initiates:
            self.request = self.say('request', b'\x01' + self.features)
            self.response = self.hear(0x02)
        else:
            self.request = request
            mine = bytearray(b'\x02' + self.features)
            mine[5] &= request[5]
            mine[6] &= request[6]
            self.response = self.say('response', bytes(mine))
        self.size = min(self.request[4], self.response[4])
        self.secure = bool(self.request[3] & self.response[3] & 8)
        oob = (self.request[2] or self.response[2]) if self.secure else (self.request[2] and self.response[2])
        if oob:
            self.model = OOB
        elif (self.request[3] | self.response[3]) & 4:
            self.model = MODELS[self.request[1]][self.response[1]][1 if self.secure else 0]
        else:
            self.model = JUST
        host = self.link.host_address
        mine = self.link.address
        self.addresses = (mine, host) if self.initiates else (host, mine)
        (self.run_secure if self.secure else self.run_legacy)()
        self.distribute()

    def short(self, key):
        return bytes(16 - self.size) + key[16 - self.size:]

    def number_typed(self):
        return self.passkey() if callable(self.passkey) else self.passkey or 0

    # Legacy (Core 5.4, Vol 3, Part H, 2.3.5.5)

    def run_legacy(self):
        key = bytes(16)
        if self.model in PASSKEY:
            key = self.number_typed().to_bytes(16, 'big')
        elif self.model == OOB:
            key = self.given_key
        mine = os.urandom(16)
        confirm = c1(key, mine, self.request[::-1], self.response[::-1], *self.addresses)
        if self.initiates:
            self.say('confirm', b'\x03' + confirm[::-1])
            theirs = self.hear(0x03)
            self.say('random', b'\x04' + mine[::-1])
            other = self.hear(0x04)[1:][::-1]
        else:
            theirs = self.hear(0x03)
            self.say('confirm', b'\x03' + confirm[::-1])
            other = self.hear(0x04)[1:][::-1]
        if c1(key, other, self.request[::-1], self.response[::-1], *self.addresses) != theirs[1:][::-1]:
            raise PairingFailed(CONFIRM_FAILED)
        initiator, responder = (mine, other) if self.initiates else (other, mine)
        self.key = self.short(s1(key, responder, initiator))
        if not self.initiates:
            self.expect_encryption()
            self.say('random', b'\x04' + mine[::-1])
        self.begin_encryption()

    # Secure Connections (2.3.5.6)

    def run_secure(self):
        private = ec.generate_private_key(ec.SECP256R1())
        numbers = private.public_key().public_numbers()
        mine = numbers.x.to_bytes(32, 'big')
        pdu = b'\x0c' + mine[::-1] + numbers.y.to_bytes(32, 'little')
        if self.initiates:
            self.say('public key', pdu)
            heard = self.hear(0x0C)
        else:
            heard = self.hear(0x0C)
            self.say('public key', pdu)
        x, y = heard[1:33][::-1], heard[33:65][::-1]
        try:
            point = ec.EllipticCurvePublicNumbers(int.from_bytes(x, 'big'), int.from_bytes(y, 'big'), ec.SECP256R1())
            secret = private.exchange(ec.ECDH(), point.public_key())
        except ValueError:
            raise PairingFailed(CHECK_FAILED) from None
        self.x = (mine, x)
        if self.model in PASSKEY:
            given = self.number_typed().to_bytes(16, 'big')
            nonces, given = self.rounds(int.from_bytes(given, 'big')), (given, given)
        else:
            nonces, given = self.one_round(), (bytes(16), bytes(16))
        ordered = nonces if self.initiates else nonces[::-1]
        mac_key, key = f5(secret, *ordered, *self.addresses)
        self.key = self.short(key)
        said = [bytes([p[3], p[2], p[1]]) for p in (self.request, self.response)]
        here, there = self.side, 1 - self.side
        check = f6(mac_key, nonces[0], nonces[1], given[1], said[here], self.addresses[here], self.addresses[there])
        wanted = f6(mac_key, nonces[1], nonces[0], given[0], said[there], self.addresses[there], self.addresses[here])
        if self.initiates:
            self.say('check', b'\x0d' + check[::-1])
            heard = self.hear(0x0D)
        else:
            heard = self.hear(0x0D)
        if heard[1:][::-1] != wanted:
            raise PairingFailed(CHECK_FAILED)
        if not self.initiates:
            self.expect_encryption()
            self.say('check', b'\x0d' + check[::-1])
        self.begin_encryption()

    def one_round(self):
        """Just Works, comparison, out of band: (our nonce, theirs)."""
        mine, confirm = os.urandom(16), None
        if self.initiates:
            if self.model != OOB:
                confirm = self.hear(0x03)[1:][::-1]
            self.say('random', b'\x04' + mine[::-1])
            other = self.hear(0x04)[1:][::-1]
            if confirm is not None and f4(self.x[1], self.x[0], other, 0) != confirm:
                raise PairingFailed(CONFIRM_FAILED)
        else:
            if self.model != OOB:
                self.say('confirm', b'\x03' + f4(self.x[0], self.x[1], mine, 0)[::-1])
            other = self.hear(0x04)[1:][::-1]
            self.say('random', b'\x04' + mine[::-1])
        if self.model == COMPARE:
            points = self.x if self.initiates else self.x[::-1]
            nonces = (mine, other) if self.initiates else (other, mine)
            self.number = g2(*points, *nonces)
            if self.compare and not self.compare(self.number):
                raise PairingFailed(COMPARISON_FAILED)
        return mine, other

    def rounds(self, passkey):
        for self.round in range(20):
            bit = 0x80 | passkey >> self.round & 1
            mine = os.urandom(16)
            pdu = b'\x03' + f4(self.x[0], self.x[1], mine, bit)[::-1]
            if self.initiates:
                self.say('confirm', pdu)
                confirm = self.hear(0x03)[1:][::-1]
                self.say('random', b'\x04' + mine[::-1])
                other = self.hear(0x04)[1:][::-1]
            else:
                confirm = self.hear(0x03)[1:][::-1]
                self.say('confirm', pdu)
                other = self.hear(0x04)[1:][::-1]
            if f4(self.x[1], self.x[0], other, bit) != confirm:
                raise PairingFailed(CONFIRM_FAILED)
            if not self.initiates:
                self.say('random', b'\x04' + mine[::-1])
        return mine, other

    # The link, and keys (2.4.3, 3.6.1: the fields of the response decide)

    def expect_encryption(self):
        self.peer.temporary_key, self.link.encryption = self.key, None

    def begin_encryption(self):
        if self.initiates:
            if not self.link.encrypt(self.key):
                raise PairingFailed('the host has no key for the link', tell=False)
        else:
            end = time.monotonic() + self.seconds
            while not (self.link.encrypted and self.link.encryption == 0):
                if time.monotonic() > end or not self.link.open:
                    raise PairingFailed(f'link {self.link.number} is not encrypted', tell=False)
                time.sleep(0.005)

    def distribute(self):
        ours_bits, theirs_bits = self.response[5], self.response[6]      # initiator's, responder's
        if not self.initiates:
            ours_bits, theirs_bits = theirs_bits, ours_bits
        if self.secure:
            ours_bits, theirs_bits = ours_bits & ~1, theirs_bits & ~1
        keys = Keys(secure=self.secure, authenticated=self.model != JUST, size=self.size)
        if self.secure:
            keys.ours = keys.theirs = self.key, 0, 0
        if self.initiates:           # the responder distributes first
            self.take_keys(keys, theirs_bits)
            self.give_keys(keys, ours_bits)
        else:
            self.give_keys(keys, ours_bits)
            self.take_keys(keys, theirs_bits)
        self.keys = keys
        if self.keeps:
            self.peer.keys = keys
        self.peer.temporary_key = None

    def give_keys(self, keys, bits):
        if bits & 1:
            keys.ours = self.short(os.urandom(16)), int.from_bytes(os.urandom(8), 'little'), 1 + os.urandom(1)[0]
        if not self.distributes:
            return
        if bits & 1:
            key, rand, ediv = keys.ours
            self.say('key', b'\x06' + key[::-1])
            self.say('key', b'\x07' + ediv.to_bytes(2, 'little') + rand.to_bytes(8, 'little'))
        if bits & 2:
            random, address = self.identity or self.peer.identity or (self.peer.random, self.peer.address)
            self.say('key', b'\x08' + (self.irk or self.peer.irk)[::-1])
            self.say('key', bytes([0x09, random]) + bytes.fromhex(address.replace(':', ''))[::-1])
        if bits & 4:
            self.say('key', b'\x0a' + self.peer.csrk[::-1])

    def take_keys(self, keys, bits):
        if not self.waits_for_keys:
            return
        if bits & 1:
            key = self.hear(0x06)[1:][::-1]
            named = self.hear(0x07)
            keys.theirs = key, int.from_bytes(named[3:11], 'little'), int.from_bytes(named[1:3], 'little')
        if bits & 2:
            keys.irk = self.hear(0x08)[1:][::-1]
            named = self.hear(0x09)
            keys.identity = bool(named[1]), named[2:8][::-1].hex(':').upper()
        if bits & 4:
            keys.csrk = self.hear(0x0A)[1:][::-1]
