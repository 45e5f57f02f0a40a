#!/usr/bin/env python3
"""A host of another make, for test_hosts.py: pybleno, bleno in Python, which speaks HCI and ATT itself, as a peripheral.

  pybleno_host.py peripheral INDEX

INDEX must be 0. It prints one JSON object a line, obeys `disconnect` from standard input, and ends with its input."""
import json, os, sys, threading, time

# pybleno asks for a mode that Python 3.11 no longer has.
fdopen = os.fdopen
os.fdopen = lambda descriptor, mode='r', *rest: fdopen(descriptor, mode.replace('U', ''), *rest)

from pybleno import Bleno, BlenoPrimaryService, Characteristic, Descriptor                      # noqa: E402
from pybleno.hci_socket.BluetoothHCI.BluetoothHCI import BluetoothHCISocketProvider as Provider     # noqa: E402

# Its filter of events is two octets shorter than the kernel's structure, which kernels since 2024 refuse.
Provider.set_filter = lambda self, data, original=Provider.set_filter: original(self, data.ljust(16, b'\0'))

NAME, INTERVAL = 'Bleno', 0.3
PRIVATE = '6b7a%s-9d1c-4f5e-8a2b-3c4d5e6f7081'
LONG_VALUE = bytes(i % 256 for i in range(300))
bleno = Bleno()
printing = threading.Lock()


def say(event, **more):
    with printing:
        print(json.dumps({'event': event, **more}), flush=True)


class Long(Characteristic):
    def __init__(self):
        super().__init__({'uuid': PRIVATE % '0002', 'properties': ['read'],
                          'descriptors': [Descriptor({'uuid': '2901', 'value': bytearray(b'A long value')})]})

    def onReadRequest(self, offset, callback):
        callback(Characteristic.RESULT_SUCCESS, bytearray(LONG_VALUE[offset:]))


class Control(Characteristic):
    def __init__(self):
        super().__init__({'uuid': PRIVATE % '0003', 'properties': ['read', 'write', 'writeWithoutResponse']})
        self.kept = bytearray(b'\xaa\x55')

    def onReadRequest(self, offset, callback):
        callback(Characteristic.RESULT_SUCCESS, self.kept[offset:])

    def onWriteRequest(self, data, offset, withoutResponse, callback):
        self.kept = bytearray(data)
        say('written', uuid='0003', value=self.kept.hex())
        callback(Characteristic.RESULT_SUCCESS)


class Told(Characteristic):
    """A value each 300 ms, as long as the central has subscribed."""

    def __init__(self, uuid, how, value):
        super().__init__({'uuid': uuid, 'properties': [how]})
        self.short, self.told, self.tell = uuid[4:8].upper() if len(uuid) > 4 else uuid.upper(), bytearray(value), None

    def onSubscribe(self, maxValueSize, updateValueCallback):
        self.tell = updateValueCallback
        say('subscribed', uuid=self.short)
        threading.Thread(target=self.tells, args=(updateValueCallback,), daemon=True).start()

    def onUnsubscribe(self):
        self.tell = None
        say('unsubscribed', uuid=self.short)

    def tells(self, mine):
        while self.tell is mine:
            mine(self.told)
            time.sleep(INTERVAL)


SERVICES = [
    BlenoPrimaryService({'uuid': '180d', 'characteristics': [
        Told('2a37', 'notify', b'\x00\x48'),
        Characteristic({'uuid': '2a38', 'properties': ['read'], 'value': bytearray(b'\1\2')})]}),
    BlenoPrimaryService({'uuid': PRIVATE % '0001', 'characteristics': [
        Long(), Control(), Told(PRIVATE % '0004', 'indicate', b'\x1d\x1c')]})]


def powered(state):
    if state == 'poweredOn':
        bleno.setServices(SERVICES)
        bleno.startAdvertising(NAME, ['180d'])


def main():
    bleno.on('stateChange', powered)
    bleno.on('advertisingStart', lambda error: say('failed', message=str(error)) if error else say('advertising'))
    bleno.on('accept', lambda address: say('connected', address=address.upper()))
    bleno.on('disconnect', lambda address: say('disconnected', address=address.upper()))
    bleno.start()
    for line in sys.stdin:
        if line.strip() == 'disconnect':
            bleno.disconnect()
            say('done', command='disconnect')
    os._exit(0)     # its thread waits for the adapter for ever


main()
