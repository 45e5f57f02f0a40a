#!/usr/bin/env python3
"""A host of another make, for test_hosts.py: WHAD, which has a BLE stack of its own in Python down to HCI, in both roles.

  whad_host.py peripheral|central INDEX

It prints one JSON object a line, and obeys one command a line from standard input, each of which it answers with "done" or
"failed". It ends with its input."""
import json, os, sys, threading, time, traceback

from whad.ble import AdvDataFieldList, AdvFlagsField, Central, Peripheral, Scanner
from whad.ble.profile import GenericProfile, read, subscribed, unsubscribed, written
from whad.ble.profile.advdata import AdvCompleteLocalName, AdvCompServiceUuid16List
from whad.ble.profile.attribute import UUID
from whad.ble.profile.characteristic import Characteristic
from whad.ble.profile.service import PrimaryService
from whad.ble.stack.gatt.exceptions import GattTimeoutException
from whad.ble.stack.smp.parameters import Pairing
from whad.device import Device
from whad.device.hci.constants import HCIConnectionState, HCIInternalState

NAME, INTERVAL, SCANS, SCAN, ATTEMPTS = 'Whad', 0.3, 12, 10, 3
PRIVATE = '6B7A%s-9D1C-4F5E-8A2B-3C4D5E6F7081'
LONG_VALUE = bytes(i % 256 for i in range(300))
printing = threading.Lock()


def say(event, **more):
    with printing:
        print(json.dumps({'event': event, **more}), flush=True)


def short(uuid):
    """As test_hosts.py writes it: four digits, also of those that differ in these only."""
    digits = str(uuid).upper()
    return digits[4:8] if len(digits) > 4 else digits


def opened(index):
    device = Device.create(f'hci{index}')
    # It waits a second for a controller to have sent a packet, which is short on a busy machine.
    device._Hci__timeout = 120
    created = device.on_connection_created

    def is_created(handle=0):
        """A link that is there before the thread that asked for it runs again would be ignored."""
        end = time.monotonic() + 60
        while (device._Hci__internal_state == HCIInternalState.CENTRAL and time.monotonic() < end
               and device._Hci__conn_state != HCIConnectionState.INITIATING):
            time.sleep(0.01)
        created(handle)

    device.on_connection_created = is_created
    return device


class Services(GenericProfile):
    access = PrimaryService(uuid=UUID(0x1800), device_name=Characteristic(
        uuid=UUID(0x2A00), permissions=['read'], value=NAME.encode()))
    heart = PrimaryService(
        uuid=UUID(0x180D),
        measurement=Characteristic(uuid=UUID(0x2A37), notify=True, value=b'\x00\x48'),
        location=Characteristic(uuid=UUID(0x2A38), permissions=['read'], value=b'\1\2'))
    own = PrimaryService(
        uuid=UUID(PRIVATE % '0001'),
        long=Characteristic(uuid=UUID(PRIVATE % '0002'), permissions=['read'], value=LONG_VALUE, description='A long value'),
        control=Characteristic(
            uuid=UUID(PRIVATE % '0003'), permissions=['read', 'write', 'write_without_response'], value=b'\xaa\x55'),
        told=Characteristic(uuid=UUID(PRIVATE % '0004'), indicate=True, value=b'\x1d\x1c'))
    telling = set()

    @written(own.control)
    def control_is_written(self, offset, value, without_response):
        say('written', uuid='0003', value=bytes(value).hex())

    @subscribed(heart.measurement)
    def measurement_is_subscribed(self, notification=False, indication=False):
        self.starts('2A37', self.heart.measurement, b'\x00\x48')

    @unsubscribed(heart.measurement)
    def measurement_is_unsubscribed(self):
        self.stops('2A37')

    @subscribed(own.told)
    def told_is_subscribed(self, notification=False, indication=False):
        self.starts('0004', self.own.told, b'\x1d\x1c')

    @unsubscribed(own.told)
    def told_is_unsubscribed(self):
        self.stops('0004')

    def starts(self, uuid, characteristic, value):
        self.telling.add(uuid)
        say('subscribed', uuid=uuid)
        threading.Thread(target=self.tells, args=(uuid, characteristic, value), daemon=True).start()

    def stops(self, uuid):
        self.telling.discard(uuid)
        say('unsubscribed', uuid=uuid)

    def tells(self, uuid, characteristic, value):
        """Each assignment is an update, as long as the central has subscribed."""
        while uuid in self.telling:
            time.sleep(INTERVAL)
            if uuid in self.telling:
                characteristic.value = value

    def on_connect(self, conn_handle):
        say('connected')

    def on_disconnect(self, conn_handle):
        self.telling.clear()
        say('disconnected')


def peripheral(index):
    device = opened(index)
    advertised = AdvDataFieldList(
        AdvFlagsField(), AdvCompServiceUuid16List(UUID(0x180D)), AdvCompleteLocalName(NAME.encode()))
    role = Peripheral(device, profile=Services(), adv_data=advertised)
    role.start()
    say('advertising')
    obey({'disconnect': lambda: role.disconnect(role.conn_handle)})


class Link:
    """What a central knows of its peripheral."""

    def __init__(self, index):
        self.device, self.address, self.central, self.peripheral = opened(index), None, None, None
        self.characteristics = {}
        say('ready')

    def find(self, name):
        scanner = Scanner(self.device)
        for _ in range(SCANS):
            scanner.start()
            for device in scanner.discover_devices(timeout=SCAN, updates=True):
                if device.name == name:
                    self.address = str(device.address)
                    break
            scanner.stop()
            if self.address:
                return {'address': self.address.upper()}
        raise LookupError(f'{name} was not found')

    def connect(self):
        self.central = self.central or Central(self.device)
        self.peripheral = self.central.connect(self.address, timeout=120)
        self.peripheral.set_disconnect_cb(lambda: say('disconnected'))

    def discover(self):
        self.peripheral.discover()
        found = []
        for service in self.peripheral.services():
            for c in service.characteristics():
                self.characteristics[short(c.uuid)] = c
                descriptors = sorted(short(d.type_uuid) for d in c.descriptors())
                found.append(f'{short(service.uuid)}/{short(c.uuid)} {int(c.properties)} {",".join(descriptors)}')
        return {'found': found}

    def subscribe(self, uuid):
        c = self.characteristics[uuid]
        tells = lambda _, value, indication=False: say('value', uuid=uuid, value=bytes(value).hex())
        notifies = bool(c.properties & Characteristic.NOTIFY)
        c.subscribe(notification=notifies, indication=not notifies, callback=tells)

    def write(self, uuid, value, without_response=False):
        self.characteristics[uuid].write(bytes.fromhex(value), without_response)

    def pair(self, *words):
        if not self.peripheral.pairing(Pairing(lesc='legacy' not in words)):
            raise RuntimeError('the pairing failed')

    def commands(self):
        return {
            'find': self.find, 'connect': self.connect, 'discover': again(self.discover), 'subscribe': self.subscribe,
            'pair': self.pair,
            'mtu': lambda octets: self.peripheral.set_mtu(int(octets)) and None,
            'read': again(lambda uuid: {'value': bytes(self.characteristics[uuid].read(long=True)).hex()}),
            'write': self.write, 'command': lambda uuid, value: self.write(uuid, value, True),
            'unsubscribe': lambda uuid: self.characteristics[uuid].unsubscribe() and None,
            'disconnect': lambda: self.peripheral.disconnect()}


def again(procedure):
    """On a busy machine WHAD now and then loses a response that its controller has had, and gives up after 10 s."""
    def attempts(*words):
        for left in reversed(range(ATTEMPTS)):
            try:
                return procedure(*words)
            except GattTimeoutException:
                if not left:
                    raise
    return attempts


def obey(commands):
    for line in sys.stdin:
        command, *words = line.split()
        try:
            answer = commands[command](*words)
            say('done', command=command, **(answer if isinstance(answer, dict) else {}))
        except Exception as error:
            traceback.print_exc()
            say('failed', command=command, message=f'{type(error).__name__}: {error}')
    os._exit(0)     # its threads wait for the adapter for ever


if sys.argv[1] == 'peripheral':
    peripheral(int(sys.argv[2]))
else:
    obey(Link(int(sys.argv[2])).commands())
