#!/usr/bin/env python3
"""pairing_transcripts.py FOLDER [SEED]: pairings computed without this stack, in the form of smp_pairing.json.

Every association model, key size, combination of keys and kind of address, in both roles, and what can go wrong; the tests play
them where JELLING_VECTORS names FOLDER. With --fixture FILE instead of FOLDER, a small selection for Fixtures/.
Needs the package `cryptography`; written after Core 5.4, Vol 3, Part H."""
import hashlib
import itertools
import json
import os
import random
import sys

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
PRIME = 2 ** 256 - 2 ** 224 + 2 ** 192 + 2 ** 96 - 1


# The functions; all octets most significant first.

def aes(key, block):
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def cmac(key, message):
    code = CMAC(algorithms.AES(key))
    code.update(message)
    return code.finalize()


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def c1(key, number, request, response, initiator, responder):
    first = response + request + responder[:1] + initiator[:1]
    second = bytes(4) + initiator[1:] + responder[1:]
    return aes(key, xor(aes(key, xor(number, first)), second))


def s1(key, responder, initiator):
    return aes(key, responder[8:] + initiator[8:])


def f4(u, v, key, z):
    return cmac(key, u + v + bytes([z]))


def f5(secret, n1, n2, a1, a2):
    key = cmac(bytes.fromhex('6c888391aaf5a53860370bdb5a6083be'), secret)
    message = b'btle' + n1 + n2 + a1 + a2 + b'\x01\x00'
    return cmac(key, b'\x00' + message), cmac(key, b'\x01' + message)


def f6(key, n1, n2, r, capabilities, a1, a2):
    return cmac(key, n1 + n2 + r + capabilities + a1 + a2)


def g2(u, v, key, y):
    return int.from_bytes(cmac(key, u + v + y)[-4:], 'big') % 1_000_000


def least_first(octets):
    return octets[::-1].hex()


# What both sides can do, and where that leads: [initiator][responder] is (legacy, Secure Connections).

DISPLAY, YES_NO, KEYBOARD, NOTHING, BOTH = range(5)
JUST, COMPARE, BY_INITIATOR, BY_RESPONDER, TYPED, OOB = (
    'just works', 'compare', 'shown by initiator', 'shown by responder', 'typed by both', 'out of band')
PASSKEY = (BY_INITIATOR, BY_RESPONDER, TYPED)
J, I, R = (JUST,) * 2, (BY_INITIATOR,) * 2, (BY_RESPONDER,) * 2
MODELS = {
    DISPLAY: (J, J, I, J, I),
    YES_NO: (J, (JUST, COMPARE), I, J, (BY_INITIATOR, COMPARE)),
    KEYBOARD: (R, R, (TYPED,) * 2, J, R),
    NOTHING: (J, J, J, J, J),
    BOTH: (R, (BY_RESPONDER, COMPARE), I, J, (BY_INITIATOR, COMPARE)),
}


class Failed(Exception):
    """Pairing ends: with a reason, or None where the specification leaves it open."""

    def __init__(self, reason, by_peer=False):
        self.reason, self.by_peer = reason, by_peer


class Impossible(Exception):
    """The fault needs something that the side does not know yet."""


class Pairing:
    def __init__(self, rng, name, secure, local, io, mitm=(0, 0), oob=(0, 0), bonding=1, sizes=(16, 16), initiator_keys=(7, 7),
                 responder_keys=(7, 7), peer_bits=0, passkey=None, fault=None, security_request=False, says_failure=True,
                 kinds=(None, None), offers_secure=False):
        """Pairs are (initiator, responder); of keys they are (asked for, granted). `fault` names what goes wrong at the peer."""
        self.rng, self.secure, self.local, self.oob, self.fault = rng, secure, local, oob, fault
        self.peer, self.size, self.messages = 1 - local, min(sizes), []
        requirements = []
        for side in (0, 1):
            bits = bonding | (4 if mitm[side] else 0) | (8 if secure or offers_secure and side == local else 0)
            requirements.append(bits | (peer_bits if side == self.peer else 0))
        self.request = bytes([1, io[0], oob[0], requirements[0], sizes[0], initiator_keys[0], responder_keys[0]])
        self.response = bytes([2, io[1], oob[1], requirements[1], sizes[1], initiator_keys[0] & initiator_keys[1],
                               responder_keys[0] & responder_keys[1]])
        self.addresses = [self.address(kinds[0]), self.address(kinds[1])]
        if (oob[0] or oob[1]) if secure else (oob[0] and oob[1]):
            self.model = OOB
        else:
            self.model = MODELS[io[0]][io[1]][1 if secure else 0] if mitm[0] or mitm[1] else JUST
        self.passkey = rng.choice([0, 999_999, rng.randrange(1_000_000)]) if passkey is None else passkey
        self.transcript = self.frame(name)
        if security_request:
            self.say(1, bytes([0x0B, requirements[1] & 0x1D]))
        try:
            self.say(0, self.request, 'features')
            self.say(1, self.response, 'features')
            (self.run_secure if secure else self.run_legacy)()
            if bonding:
                self.distribute()
        except Failed as failed:
            self.transcript['expected'].update(ltk_lsb_first=None, stk_lsb_first=None)
            self.transcript['expected_failure'] = {'pairing_failed': 'any reason' if failed.reason is None else failed.reason}
            if not failed.by_peer and failed.reason is not None and says_failure:
                self.say(local, bytes([5, failed.reason]))

    def frame(self, name):
        actions = {COMPARE: 'numeric_comparison', TYPED: 'input', OOB: 'oob',
                   BY_INITIATOR: ('display', 'input')[self.local], BY_RESPONDER: ('input', 'display')[self.local]}
        methods = {JUST: 'just_works', COMPARE: 'numeric_comparison', OOB: 'oob'}
        addresses = [{'type': a[0], 'bytes_lsb_first': least_first(a[1:])} for a in self.addresses]
        return {
            'name': name, 'pairing': 'secure_connections' if self.secure else 'legacy',
            'local_role': ('initiator', 'responder')[self.local], 'method': methods.get(self.model, 'passkey'),
            'local_io_action': actions.get(self.model, 'none'),
            'passkey': self.passkey if self.model in PASSKEY else None, 'oob_tk_lsb_first': None,
            'numeric_comparison_value': None, 'initiator_address': addresses[0], 'responder_address': addresses[1],
            'initiator_identity_lsb_first': addresses[0]['bytes_lsb_first'],
            'responder_identity_lsb_first': addresses[1]['bytes_lsb_first'], 'local_private_key_lsb_first': None,
            'smp_pdus_phase1_2': self.messages, 'key_distribution_pdus': {},
            'expected': {'stk_lsb_first': None, 'ltk_lsb_first': None, 'authenticated': self.model != JUST,
                         'dhkey_msb_first': None, 'mackey_msb_first': None}}

    def address(self, kind):
        """The type, then six octets."""
        kind = kind or self.rng.choice(['public', 'static', 'private'])
        octets = bytearray(self.rng.randbytes(6))
        if kind == 'static':
            octets[0] |= 0xC0
        if kind == 'private':
            octets[0] = octets[0] & 0x3F | 0x40
        return bytes([kind != 'public']) + octets

    def say(self, side, pdu, place=None):
        """A PDU; or the peer's end of it all, where the fault says so."""
        ends = place is not None and side == self.peer and self.fault == ('peer', place)
        if ends:
            pdu = bytes([5, self.rng.randrange(1, 16)])
        self.messages.append({'from': ('initiator', 'responder')[side], 'pdu': pdu.hex()})
        if ends:
            raise Failed(pdu[1], by_peer=True)

    def say_both(self, opcode, values, place, check=None):
        for side in (0, 1):
            self.say(side, bytes([opcode]) + values[side][::-1], place)
            if side == self.peer and check is not None:
                raise Failed(check)

    def key_text(self, key):
        return key[::-1][:self.size].hex() + '00' * (16 - self.size)

    # Legacy pairing

    def run_legacy(self):
        key = bytes(16)
        if self.model in PASSKEY:
            key = self.passkey.to_bytes(16, 'big')
        if self.model == OOB:
            key = self.rng.randbytes(16)
            self.transcript['oob_tk_lsb_first'] = least_first(key)
        keys = [key, key]
        if self.fault == 'wrong key':
            keys[self.peer] = (int.from_bytes(key, 'big') ^ 1).to_bytes(16, 'big')
        randoms = [self.rng.randbytes(16), self.rng.randbytes(16)]
        confirms = [c1(keys[s], randoms[s], self.request[::-1], self.response[::-1], *self.addresses) for s in (0, 1)]
        if self.fault == 'wrong confirm':
            confirms[self.peer] = xor(confirms[self.peer], bytes(15) + b'\x01')
        if self.fault == 'reflected confirm':
            if self.peer == 0:
                raise Impossible
            confirms[1] = confirms[0]
        self.say_both(3, confirms, 'confirm')
        if self.fault == 'reflected confirm':
            raise Failed(None)
        self.say_both(4, randoms, 'random', 4 if self.fault in ('wrong key', 'wrong confirm') else None)
        self.transcript['expected']['stk_lsb_first'] = self.key_text(s1(key, randoms[1], randoms[0]))

    # Secure Connections

    def run_secure(self):
        numbers = [self.rng.randrange(1, ORDER) for _ in (0, 1)]
        pairs = [ec.derive_private_key(n, ec.SECP256R1()) for n in numbers]
        points = [p.public_key().public_numbers() for p in pairs]
        self.x = [p.x.to_bytes(32, 'big') for p in points]
        y = [p.y.to_bytes(32, 'big') for p in points]
        secret = pairs[0].exchange(ec.ECDH(), pairs[1].public_key())
        self.transcript['local_private_key_lsb_first'] = least_first(numbers[self.local].to_bytes(32, 'big'))
        told = self.tell_out_of_band()
        bad_key = self.spoil_key(y)
        for side in (0, 1):
            self.say(side, b'\x0c' + self.x[side][::-1] + y[side][::-1], 'public key')
            if bad_key and side == self.peer:
                raise Failed(None)
        if bad_key:
            raise Failed(None)
        if self.fault == 'wrong out of band':
            raise Failed(4)
        nonces, given = self.authenticate(told)
        mac_key, key = f5(secret, nonces[0], nonces[1], *self.addresses)
        self.transcript['expected'].update(
            dhkey_msb_first=secret.hex(), mackey_msb_first=mac_key.hex(), ltk_lsb_first=self.key_text(key))
        said = [bytes([p[3], p[2], p[1]]) for p in (self.request, self.response)]
        checks = [f6(mac_key, nonces[s], nonces[1 - s], given[1 - s], said[s], self.addresses[s], self.addresses[1 - s])
                  for s in (0, 1)]
        if self.fault == 'wrong check':
            checks[self.peer] = xor(checks[self.peer], b'\x80' + bytes(15))
        if self.fault == 'reflected check':
            if self.peer == 0:
                raise Impossible
            checks[1] = checks[0]
        self.say_both(0x0D, checks, 'check', 0x0B if self.fault in ('wrong check', 'reflected check') else None)

    def tell_out_of_band(self):
        told = [self.rng.randbytes(16), self.rng.randbytes(16)]
        confirms = [f4(self.x[s], self.x[s], told[s], 0) for s in (0, 1)]
        if self.fault == 'wrong out of band':
            confirms[self.peer] = self.rng.randbytes(16)
        if self.model == OOB:
            for side, name in ((self.local, 'local_oob'), (self.peer, 'peer_oob')):
                if self.oob[1 - side]:
                    self.transcript[name] = {'random_lsb_first': least_first(told[side]),
                                             'confirm_lsb_first': least_first(confirms[side])}
        return told

    def spoil_key(self, y):
        if self.fault == 'no point':
            y[self.peer] = xor(y[self.peer], bytes(31) + b'\x02')
        elif self.fault == 'zero point':
            self.x[self.peer] = y[self.peer] = bytes(32)
        elif self.fault in ('reflected key', 'reflected key, negated'):
            if self.peer == 0:
                raise Impossible
            number = int.from_bytes(y[self.local], 'big')
            self.x[self.peer] = self.x[self.local]
            y[self.peer] = (number if self.fault == 'reflected key' else PRIME - number).to_bytes(32, 'big')
        else:
            return False
        return True

    def authenticate(self, told):
        """The nonces of the last round, and what each side gave the other beside them."""
        nonces = [self.rng.randbytes(16), self.rng.randbytes(16)]
        if self.model in PASSKEY:
            return self.rounds(), [self.passkey.to_bytes(16, 'big')] * 2
        if self.model == OOB:
            self.say_both(4, nonces, 'random')
            return nonces, [told[s] if self.oob[1 - s] else bytes(16) for s in (0, 1)]
        confirm = f4(self.x[1], self.x[0], nonces[1], 0)
        if self.fault == 'wrong confirm':
            if self.peer == 0:
                raise Impossible
            confirm = self.rng.randbytes(16)
        self.say(1, b'\x03' + confirm[::-1], 'confirm')
        self.say_both(4, nonces, 'random', 4 if self.fault == 'wrong confirm' else None)
        if self.model == COMPARE:
            self.transcript['numeric_comparison_value'] = g2(self.x[0], self.x[1], *nonces)
        return nonces, [bytes(16)] * 2

    def rounds(self):
        for number in range(20):
            bits = [0x80 | self.passkey >> number & 1] * 2
            if self.fault == ('wrong bit', number):
                bits[self.peer] ^= 1
            nonces = [self.rng.randbytes(16), self.rng.randbytes(16)]
            confirms = [f4(self.x[s], self.x[1 - s], nonces[s], bits[s]) for s in (0, 1)]
            if self.fault == ('reflected confirm', number):
                if self.peer == 0:
                    raise Impossible
                confirms[1] = confirms[0]
            self.say_both(3, confirms, ('confirm', number))
            if self.fault == ('reflected confirm', number):
                raise Failed(None)
            self.say_both(4, nonces, ('random', number), 4 if self.fault == ('wrong bit', number) else None)
        return nonces

    # Keys

    def distribute(self):
        sides = []
        for bits, address in zip(self.response[5:], self.addresses):
            keys = {}
            if bits & 1 and not self.secure:
                keys['encryption_information'] = '06' + self.rng.randbytes(self.size).hex() + '00' * (16 - self.size)
                keys['central_identification'] = '07' + self.rng.randbytes(10).hex()
            if bits & 2:
                if address[0] and address[1] >> 6 != 3:
                    address = self.address('static')
                keys['identity_information'] = '08' + self.rng.randbytes(16).hex()
                keys['identity_address_information'] = '09' + address[:1].hex() + least_first(address[1:])
            if bits & 4:
                keys['signing_information'] = '0a' + self.rng.randbytes(16).hex()
            sides.append(keys)
        if self.rng.random() < 0.5:
            sides.reverse()  # Such files are about, too.
        self.transcript['key_distribution_pdus'] = {'initiator_sends': sides[0], 'responder_sends': sides[1]}


def transcripts(seed):
    """(kind, transcript) of everything."""
    rng = random.Random(seed)

    def make(kind, name, *arguments, **settings):
        try:
            yield kind, Pairing(rng, f'{kind} {name}', *arguments, **settings).transcript
        except Impossible:
            return

    sides = tuple(itertools.product((0, 1), (0, 1)))
    capabilities = range(5)
    for secure, local in sides:
        for io, mitm in itertools.product(itertools.product(capabilities, capabilities), ((1, 0), (0, 1), (1, 1), (0, 0))):
            yield from make('model', f'{secure} {local} {io} {mitm}', secure, local, io, mitm=mitm)
        for oob, mitm in itertools.product(itertools.product((0, 1), (0, 1)), ((0, 0), (1, 1))):
            io = rng.randrange(5), rng.randrange(5)
            yield from make('out of band', f'{secure} {local} {oob} {mitm}', secure, local, io, mitm=mitm, oob=oob)
        for size in range(7, 17):
            for sizes in ((size, 16), (16, size)):
                io = rng.randrange(5), rng.randrange(5)
                yield from make('size', f'{secure} {local} {sizes}', secure, local, io, mitm=(1, 0), sizes=sizes)
        for initiator, responder in itertools.product(range(8), range(8)):
            yield from make('keys', f'{secure} {local} {initiator} {responder}', secure, local, (NOTHING, NOTHING),
                            initiator_keys=(initiator, 15), responder_keys=(responder, 15))
        for kinds in itertools.product(('public', 'static', 'private'), repeat=2):
            yield from make('address', f'{secure} {local} {kinds}', secure, local, (BOTH, NOTHING), kinds=kinds)
        for passkey in (0, 1, 99_999, 100_000, 524_287, 524_288, 999_999):
            for io in ((KEYBOARD, DISPLAY), (DISPLAY, KEYBOARD), (KEYBOARD, KEYBOARD)):
                yield from make('passkey', f'{secure} {local} {passkey} {io}', secure, local, io, mitm=(1, 1), passkey=passkey)
        for bits in (0x10, 0x20, 0xC0, 0xF0):
            yield from make('peer bits', f'{secure} {local} {bits:#x}', secure, local, (YES_NO, YES_NO), mitm=(1, 1),
                            peer_bits=bits)
        for io in ((NOTHING, NOTHING), (YES_NO, YES_NO)):
            yield from make('security request', f'{secure} {local} {io}', secure, local, io, mitm=(0, 1), security_request=True)
            yield from make('no bonding', f'{secure} {local} {io}', secure, local, io, bonding=0, initiator_keys=(0, 0),
                            responder_keys=(0, 0))
        if local == 1:
            for asked in (8, 9, 11, 15):
                yield from make('link key asked for', f'{secure} {asked}', secure, local, (NOTHING, NOTHING),
                                initiator_keys=(asked, 7), responder_keys=(asked, 7))
        if not secure:
            for oob in ((0, 0), (1, 1)):
                yield from make('legacy for want of better', f'{local} {oob}', secure, local, (NOTHING, NOTHING), oob=oob,
                                offers_secure=True)
        yield from faults(make, secure, local)


def faults(make, secure, local):
    ways = ((NOTHING, NOTHING), (KEYBOARD, DISPLAY), (DISPLAY, KEYBOARD))
    names = (['no point', 'zero point', 'reflected key', 'reflected key, negated', 'wrong check', 'reflected check']
             if secure else ['wrong key', 'reflected confirm'])
    for io, name, says in itertools.product(ways, names, (True, False)):
        if name == 'wrong key' and io == ways[0]:
            continue
        yield from make(name, f'{secure} {local} {io} {says}', secure, local, io, mitm=(1, 1), fault=name, says_failure=says)
    yield from make('wrong confirm', f'{secure} {local}', secure, local, ways[0], fault='wrong confirm')
    yield from make('wrong out of band', f'{secure} {local}', secure, local, ways[0], oob=(1, 1),
                    fault='wrong out of band' if secure else 'wrong key')
    if secure:
        for io, number in itertools.product(ways[1:], range(20)):
            yield from make('wrong bit', f'{local} {io} {number}', secure, local, io, mitm=(1, 1), fault=('wrong bit', number))
            yield from make('reflected round', f'{local} {io} {number}', secure, local, io, mitm=(1, 1),
                            fault=('reflected confirm', number))
    for io, place in itertools.product(ways, ('features', 'confirm', 'random', 'public key', 'check', ('random', 19))):
        for kind, transcript in make('peer gives up', f'{secure} {local} {io} {place}', secure, local, io, mitm=(1, 1),
                                     fault=('peer', place)):
            if 'expected_failure' in transcript:
                yield kind, transcript


def selection(everything, limit):
    """Some of each kind; few of those with twenty rounds, which are long."""
    taken = {}
    for kind, transcript in sorted(everything, key=lambda t: hashlib.sha256(t[1]['name'].encode()).digest()):
        is_long = len(transcript['smp_pdus_phase1_2']) > 40
        key = kind, transcript['pairing'], is_long
        most = int(kind in ('model', 'passkey', 'wrong bit')) if is_long else {'model': 12, 'out of band': 6}.get(kind, limit)
        if taken.get(key, 0) < most:
            taken[key] = taken.get(key, 0) + 1
            transcript['expected'] = {k: v for k, v in transcript['expected'].items() if v is not None}
            yield {k: v for k, v in transcript.items() if v is not None}


def main(arguments):
    if arguments[:1] == ['--fixture'] and len(arguments) == 2:
        path, tests = arguments[1], list(selection(transcripts(1), 3))
    elif arguments and not arguments[0].startswith('-') and len(arguments) <= 2:
        os.makedirs(arguments[0], exist_ok=True)
        path = os.path.join(arguments[0], 'smp_pairing.json')
        tests = [t for _, t in transcripts(int(arguments[1]) if len(arguments) > 1 else 1)]
    else:
        sys.exit(__doc__)
    with open(path, 'w') as file:
        lines = ',\n'.join(json.dumps(t, separators=(',', ':')) for t in tests)
        file.write('{"tests":[\n' + lines + '\n]}\n')
    print(f'{path}: {len(tests)} transcripts')


if __name__ == '__main__':
    main(sys.argv[1:])
