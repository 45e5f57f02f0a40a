"""A controller on whose links centrals read from ble-beacon and are notified."""
import json, os, tempfile, threading, time

import hostile
from users import PATIENCE, Bench, line_of

SLOW, QUICK = 0x40, 0x41
PROFILE = {'services': [{'uuid': '181A', 'characteristics': [
    {'uuid': uuid, 'properties': ['read', 'notify'], 'value': '0102', 'notifyEvery': 0.005} for uuid in ('2A6E', '2A6F')]}]}


def read_by_type(uuid):
    return b'\x08\x01\x00\xff\xff' + uuid.to_bytes(2, 'little')


class Centrals:
    """Each makes a link when ble-beacon advertises, and says `requests[handle]`; what comes back is given to `heard`. With
    `leave` each ends its link before the next one makes its own."""

    def __init__(self, requests, heard, is_slow=lambda handle: False, leave=False):
        self.requests, self.heard, self.is_slow, self.leave = requests, heard, is_slow, leave

    def __call__(self, line, _):
        absent = list(self.requests)
        while True:
            packet = line.hear()
            if packet[0] == 2:
                self.take(line, packet)
                continue
            for said in hostile.answers(packet):
                line.say(said)
            if packet[1:3] == b'\x0a\x20' and packet[4] and absent:
                if self.leave and len(absent) < len(self.requests):
                    line.say(hostile.event(0x05, bytes([0, handle, 0, 0x13])))
                handle = absent.pop(0)
                line.say(hostile.event(0x3E, bytes([1, 0, handle, 0, 1, 1, handle, 0, 0, 0, 0, 0xC1, 24, 0, 0, 0, 200, 0, 0])))
                self.send(line, handle, self.requests[handle])

    def take(self, line, packet):
        handle, channel, pdu = int.from_bytes(packet[1:3], 'little') & 0xFFF, packet[7], packet[9:]
        # A slow central leaves the controller's buffers filled.
        if not self.is_slow(handle):
            line.say(hostile.event(0x13, bytes([1, handle, 0, 1, 0])))
        if channel == 4 and (answer := self.heard(handle, pdu)):
            self.send(line, handle, answer)

    @staticmethod
    def send(line, handle, pdu):
        frame = len(pdu).to_bytes(2, 'little') + b'\x04\x00' + pdu
        line.say(bytes([2, handle, 0x20]) + len(frame).to_bytes(2, 'little') + frame)


def central_that_stops(folder):
    """a central that takes no more notifications stops none of another characteristic's for others"""
    counts, done = {SLOW: 0, QUICK: 0}, threading.Event()

    def heard(handle, pdu):
        if pdu[0] == 0x09:
            configuration = int.from_bytes(pdu[2:4], 'little') + 1
            return b'\x12' + configuration.to_bytes(2, 'little') + b'\x01\x00'
        if pdu[0] == 0x1B:
            counts[handle] += 1
            # Far more than wait for the slow one, which must be refused a value before the end.
            if counts[SLOW] and counts[QUICK] >= 2000:
                done.set()
        return None

    requests = {SLOW: read_by_type(0x2A6E), QUICK: read_by_type(0x2A6F)}
    centrals = Centrals(requests, heard, lambda handle: handle == SLOW and counts[SLOW] > 0)
    with Bench(folder, centrals) as bench, tempfile.TemporaryDirectory() as scratch:
        file = os.path.join(scratch, 'profile.json')
        with open(file, 'w') as f:
            json.dump(PROFILE, f)
        process = bench.start('ble-beacon', file)
        is_done = done.wait(PATIENCE)
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE)
    return is_done and counts[SLOW] < 100, f'{counts}, {out[-300:]!r} {err[-300:]!r}'


def answer_that_is_late(folder):
    """a value with answerAfter is answered, and not before that time"""
    profile = {'services': [{'uuid': '181A', 'characteristics': [
        {'uuid': '2A6E', 'properties': ['read'], 'value': '0102', 'answerAfter': 1}]}]}
    answers, done = [], threading.Event()

    def heard(handle, pdu):
        answers.append((time.monotonic(), pdu))
        done.set()

    began = []

    class Timed(Centrals):
        @staticmethod
        def send(line, handle, pdu):
            began.append(time.monotonic())
            Centrals.send(line, handle, pdu)

    centrals = Timed({QUICK: read_by_type(0x2A6E)}, heard)
    with Bench(folder, centrals) as bench, tempfile.TemporaryDirectory() as scratch:
        file = os.path.join(scratch, 'profile.json')
        with open(file, 'w') as f:
            json.dump(profile, f)
        process = bench.start('ble-beacon', file)
        done.wait(PATIENCE)
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE)
    good = answers and answers[0][1][0] == 0x09 and answers[0][1].endswith(b'\x01\x02') and answers[0][0] - began[0] >= 1
    return bool(good), f'{answers}, {out[-300:]!r} {err[-300:]!r}'


def answers_of_centrals_that_leave(folder):
    """reads that wait for their answers take no room when their centrals have left"""
    profile = {'services': [{'uuid': '181A', 'characteristics': [
        {'uuid': '2A6E', 'properties': ['read'], 'value': '0102', 'answerAfter': 29}]}]}
    # More than reads that can wait. The last one stays: an answer at once would mean that there is no room.
    handles = range(0x40, 0x40 + 34)
    answers = []

    def heard(handle, pdu):
        answers.append((handle, pdu))

    centrals = Centrals(dict.fromkeys(handles, read_by_type(0x2A6E)), heard, leave=True)
    with Bench(folder, centrals) as bench, tempfile.TemporaryDirectory() as scratch:
        file = os.path.join(scratch, 'profile.json')
        with open(file, 'w') as f:
            json.dump(profile, f)
        process = bench.start('ble-beacon', file)
        reads, said = 0, b'nothing'
        while reads < len(handles) and said:
            said = line_of(process)
            reads += b'"event":"read"' in said
        # It ends when the controller has ended the link, and has taken before what it was to send.
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE)
    early = [(handle, pdu) for handle, pdu in answers if pdu[0] in (0x01, 0x09)]
    good = reads == len(handles) and not early and process.returncode == 0
    return good, f'{reads} reads, {early}, {out[-300:]!r} {err[-300:]!r}'


def address_resolution(folder):
    """a central reads Central Address Resolution where it is offered, and only there"""
    found = []
    for options in ((), ('--address-resolution',)):
        answers, done = [], threading.Event()

        def heard(handle, pdu):
            if pdu[0] in (0x01, 0x09):
                answers.append(pdu)
                done.set()

        with Bench(folder, Centrals({QUICK: read_by_type(0x2AA6)}, heard)) as bench:
            process = bench.start('ble-beacon', *options)
            done.wait(60)
            process.terminate()
            process.communicate(timeout=PATIENCE)
        found.append(answers[0] if answers else b'')
    good = found[0] == b'\x01\x08\x01\x00\x0a' and found[1][:2] == b'\x09\x03' and found[1][4:] == b'\x01'
    return good, f'{found}'


CASES = [central_that_stops, address_resolution, answer_that_is_late, answers_of_centrals_that_leave]
