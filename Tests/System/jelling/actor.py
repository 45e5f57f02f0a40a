"""An app in Python that does what its one argument, a JSON object, says, and prints what it is told, a JSON object a line. The
cases of limits and scenarios install it, so that it is a process with a life (client.py speaks for it).

  restore     the restore identifier of its managers
  scan        services to scan for (an empty list: every device); `duplicates` with duplicates
  connect     options of connecting to the first device that it finds (field numbers of AppConnectOptions)
  again       connects again after each end; `try` connects to this identifier, whether it knows it or not
  subscribe   the number of the characteristic that it subscribes to
  overflow    what its managers say about the overflow area
  publish     services to publish, a list of lists of [UUID, properties, permissions]; `advertise` with this name and `services`
  channels    how many channels to publish
  signals     how often to read the signal strength at once, when it is connected
  allocate    how many MiB to use, when it may begin
  busy        handles nothing that it is told
  late        after each value in the background, goes on by itself for so many seconds, and then says so
  work        what it does about its time at such a value: `done` says that it is done, a number is a task of so many seconds,
              `expiring` a task until it is warned, `endless` one that never ends
  answer      after how many seconds it answers a read
  rescan      scans for another service fifty times a second, so that what is preserved of it changes, and counts

SIGUSR1: it lets go of the device."""
import itertools, json, os, signal, sys, threading, time

from client import Client, decode, encode

WISH = json.loads(sys.argv[1])
CENTRAL, PERIPHERAL = 1, 2
client = Client(os.environ['JELLING_SOCKET'], 1_000_000)
device = None
is_restored = is_behind = False
held = []


def say(event, **fields):
    print(json.dumps({'event': event, 'app': os.environ['JELLING_APP'], 'process': os.getpid(), **fields}), flush=True)


def uuid(text):
    return bytes.fromhex(text)


def ask(manager, request):
    client.send({3: {1: manager, **request}})


def ask_device(request):
    ask(CENTRAL, {15: {1: device, **request}})


def error(message):
    """`None`, or what a call of the framework would have as its error."""
    if not message:
        return None
    (kind, code), = decode(message[0]).items()
    return [{1: 'CBError', 2: 'CBATTError'}[kind], code[0]]


def repeated(values, number=1):
    """A message with a repeated field, as octets."""
    return b''.join(encode({number: value}) for value in values)


def begin():
    if 'scan' in WISH and not is_restored:
        fields = repeated(map(uuid, WISH['scan']))
        if WISH.get('duplicates'):
            fields += bytes([2 << 3, 1])
        ask(CENTRAL, {6: fields})
    if 'rescan' in WISH:
        threading.Thread(target=rescan, daemon=True).start()
    if 'try' in WISH:
        ask(CENTRAL, {8: {1: bytes.fromhex(WISH['try']), 2: {}}})
    if WISH.get('allocate'):
        try:
            held.append(bytearray(os.urandom(1 << 20) * WISH['allocate']))
            say('allocated', megabytes=WISH['allocate'])
        except MemoryError:
            say('refused')


def rescan():
    for count in itertools.count():
        ask(CENTRAL, {6: {1: uuid('feab' if count % 2 else 'feac')}})
        if count % 50 == 0:
            say('rescanned', count=count)
        time.sleep(0.02)


def serve():
    number = 0
    for service in WISH.get('publish', []):
        number += 1
        parts = repeated([{1: 1000 * number + place, 2: uuid(one), 3: properties, 4: permissions}
                          for place, (one, properties, permissions) in enumerate(service[1:], 1)], 5)
        ask(PERIPHERAL, {16: encode({1: number, 2: uuid(service[0]), 3: 1}) + parts})
    for _ in range(WISH.get('channels', 0)):
        ask(PERIPHERAL, {24: 1 if WISH.get('encrypted') else 0})
    if 'advertise' in WISH:
        ask(PERIPHERAL, {19: encode({1: WISH['advertise'].encode()}) + repeated(map(uuid, WISH.get('services', [])), 2)})


def central(event):
    global device, is_restored
    kind = next(number for number in event if number != 1)
    content = event[kind][0]
    if kind == 2:
        restored = decode(content)
        is_restored = True
        scan = decode(restored[2][0]) if 2 in restored else None
        peripherals = []
        for remote in map(decode, restored.get(1, [])):
            peripheral = decode(remote[1][0])
            device = peripheral[1][0]
            services = decode(remote[2][0]).get(1, []) if 2 in remote else []
            notifying = [one[1][0] for service in map(decode, services) if 6 in service
                         for one in map(decode, decode(service[6][0]).get(1, [])) if one.get(4) == [1]]
            peripherals.append({'state': peripheral.get(3, [0])[0], 'services': [decode(one)[2][0].hex() for one in services],
                                'notifying': len(notifying)})
        say('willRestore', peripherals=peripherals, scan=scan and [one.hex() for one in scan.get(1, [])],
            duplicates=bool(scan and scan.get(2)))
    elif kind == 4:
        state = decode(content)[1][0]
        say('state', state=state)
        if state == 5:
            begin()
    elif kind == 6:
        say('lost', count=content)
    elif kind == 7:
        peer = decode(decode(content)[1][0])[1][0]
        say('discovered', peer=peer.hex())
        if 'connect' in WISH and device is None:
            device = peer
            ask(CENTRAL, {8: {1: device, 2: {int(key): value for key, value in WISH['connect'].items()}}})
    elif kind == 8:
        say('connected')
        if WISH.get('signals'):
            for _ in range(WISH['signals']):
                ask_device({12: {}})
        if 'subscribe' in WISH and not is_restored:
            ask_device({2: {}})
    elif kind == 9:
        say('failed', error=error(decode(content).get(2)))
    elif kind == 10:
        say('disconnected', error=error(decode(content).get(2)))
        if WISH.get('again'):
            ask(CENTRAL, {8: {1: device, 2: {}}})
    elif kind == 13:
        of_device(decode(content))


def of_device(told):
    if 3 in told:
        for service in map(decode, decode(told[3][0]).get(1, [])):
            ask_device({4: {1: service[1][0]}})
    elif 5 in told:
        for one in map(decode, decode(told[5][0]).get(3, [])):
            if one[2][0] == uuid(WISH['subscribe']):
                ask_device({11: {1: one[1][0], 2: 1}})
    elif 7 in told:
        work()
        say('value', value=decode(told[7][0]).get(2, [b''])[0].hex(), error=error(told.get(2)))
    elif 11 in told:
        say('notifying', error=error(told.get(2)))
    elif 12 in told:
        say('signal', error=error(told.get(2)))


def work():
    """At a value, in the background."""
    if not is_behind:
        return
    if 'late' in WISH:
        threading.Timer(WISH['late'], lambda: say('late')).start()
    task = WISH.get('work')
    if task == 'done':
        client.send({5: {1: 3}})
    elif task is not None:
        client.send({5: {2: 1}})
        if isinstance(task, (int, float)):
            threading.Timer(task, end_task).start()


def end_task():
    say('ended')
    client.send({5: {2: 0}})


def peripheral(event):
    global is_restored
    kind = next(number for number in event if number != 1)
    content = event[kind][0]
    if kind == 3:
        restored = decode(content)
        is_restored = True
        advertised = decode(restored[3][0]) if 3 in restored else {}
        say('willRestore', services=[decode(service)[2][0].hex() for service in restored.get(1, [])],
            name=advertised.get(1, [b''])[0].decode(), advertised=[one.hex() for one in advertised.get(2, [])])
    elif kind == 4:
        state = decode(content)[1][0]
        say('state', state=state)
        # What was published and advertised goes on by itself, after a launch and after Bluetooth was off, not after a reset.
        if state < 4:
            is_restored = False
        if state == 5 and not is_restored:
            is_restored = True
            serve()
    elif kind == 14:
        added = decode(content)
        say('published', service=added[1][0], error=error(added.get(2)))
    elif kind == 15:
        say('advertising', error=error(decode(content).get(1)))
    elif kind == 16:
        request = decode(content)[1][0]
        say('read')
        if 'answer' in WISH:
            threading.Timer(WISH['answer'], lambda: ask(PERIPHERAL, {21: {1: request, 3: b'here'}})).start()
        else:
            ask(PERIPHERAL, {21: {1: request, 3: b'here'}})
    elif kind == 22:
        said = decode(content)
        say('channel', psm=said.get(1, [0])[0], error=error(said.get(2)))


def let_go(*_):
    ask(CENTRAL, {9: device})


def main():
    global is_behind
    signal.signal(signal.SIGUSR1, let_go)
    client.send({1: {1: 1, 2: 2, 3: {1: os.environ['JELLING_APP'].encode()}}})
    welcome = decode(client.receive()[16][0])
    say('began', launch=[name.decode() for name in welcome.get(2, []) + welcome.get(3, [])],
        environment={name: os.environ[name] for name in ('CB_LAUNCH_CENTRALS', 'CB_LAUNCH_PERIPHERALS') if name in os.environ})
    options = {1: WISH['restore'].encode()} if 'restore' in WISH else {}
    if 'overflow' in WISH:
        options[4] = WISH['overflow'].encode()
    serves = bool({'publish', 'channels', 'advertise'} & WISH.keys())
    ask(PERIPHERAL if serves else CENTRAL, {4 if serves else 3: options})
    while (message := client.receive()) is not None:
        for event in map(decode, message.get(17, [])):
            (peripheral if serves else central)(event)
            if not WISH.get('busy'):
                client.send({4: {1: event[1][0], 2: 1}})
        for notice in map(decode, message.get(19, [])):
            if 1 in notice:
                say('log', text=notice[1][0].decode())
            elif 2 in notice:
                say('expiring')
                if WISH.get('work') == 'expiring':
                    end_task()
            elif 5 in notice:
                # The greatest number: nothing limits it.
                is_behind = notice[5][0] != 0xFFFFFFFF
        if 2 in message:
            say('refusal', reason=decode(message[2][0])[1][0])


main()
