"""An app in Python that does what its one argument, a JSON object, says, and prints what it is told, a JSON object a line. The
cases of limits and scenarios install it, so that it is a process with a life (session.py speaks for it).

  restore     the restore identifier of its managers
  scan        services to scan for (an empty list: every device); `duplicates` with duplicates
  connect     options of connecting to the first device that it finds, as AppConnectOptions has them
  again       connects again after each end
  subscribe   the number of the characteristic that it subscribes to
  overflow    what its managers say about the overflow area
  publish     services to publish, a list of lists of [UUID, properties, permissions]; `advertise` with this name and `services`
  channels    how many channels to publish
  allocate    how many MiB to use, when it may begin
  busy        handles nothing that it is told
  late        after each value in the background, goes on by itself for so many seconds, and then says so
  work        what it does about its time at such a value: `done` says that it is done, a number is a task of so many seconds,
              `expiring` a task until it is warned, `endless` one that never ends
  answer      after how many seconds it answers a read
  rescan      scans for another service fifty times a second, so that what is preserved of it changes, and counts

SIGUSR1: it lets go of the device."""
import itertools, json, os, signal, sys, threading, time

from jelling.session import POWERED_ON, AppClient

WISH = json.loads(sys.argv[1])
CENTRAL, PERIPHERAL = 1, 2
SERVES = bool({'publish', 'channels', 'advertise'} & WISH.keys())
# `remaining` of an app whose time nothing limits.
WITHOUT_END = 0xFFFFFFFF
SUSPENDED = 3
device = None
is_restored = is_behind = False
held = []


def say(event, **fields):
    print(json.dumps({'event': event, 'app': os.environ['JELLING_APP'], 'process': os.getpid(), **fields}), flush=True)


def ask(**request):
    client.ask(PERIPHERAL if SERVES else CENTRAL, **request)


def ask_device(**request):
    ask(peripheral={'peer': device, **request})


def error(message):
    """`None`, or what a call of the framework would have as its error."""
    kind = message.error.WhichOneof('error')
    return kind and [{'core_bluetooth': 'CBError', 'att': 'CBATTError'}[kind], getattr(message.error, kind)]


def uuids(texts):
    return list(map(bytes.fromhex, texts))


def hexadecimal(values):
    return [value.hex() for value in values]


def begin():
    if 'scan' in WISH and not is_restored:
        ask(scan={'services': uuids(WISH['scan']), 'allows_duplicates': WISH.get('duplicates', False)})
    if 'rescan' in WISH:
        threading.Thread(target=rescan, daemon=True).start()
    if WISH.get('allocate'):
        try:
            held.append(bytearray(os.urandom(1 << 20) * WISH['allocate']))
            say('allocated', megabytes=WISH['allocate'])
        except MemoryError:
            say('refused')


def rescan():
    for count in itertools.count():
        ask(scan={'services': uuids(['feab' if count % 2 else 'feac'])})
        if count % 50 == 0:
            say('rescanned', count=count)
        time.sleep(0.02)


def connect(peer, **options):
    ask(connect={'peer': peer, 'options': options})


def serve():
    for number, (service, *characteristics) in enumerate(WISH.get('publish', []), 1):
        ask(add_service={'id': number, 'uuid': bytes.fromhex(service), 'is_primary': True, 'characteristics': [
            {'id': 1000 * number + place, 'uuid': bytes.fromhex(one), 'properties': properties, 'permissions': permissions}
            for place, (one, properties, permissions) in enumerate(characteristics, 1)]})
    for _ in range(WISH.get('channels', 0)):
        ask(publish_channel=WISH.get('encrypted', False))
    if 'advertise' in WISH:
        ask(start_advertising={'local_name': WISH['advertise'], 'services': uuids(WISH.get('services', []))})


# What it is told, by the names of events.

def will_restore_central(restored):
    global device, is_restored
    is_restored = True
    peripherals = []
    for remote in restored.peripherals:
        device = remote.peripheral.peer
        services = remote.services.services
        notifying = [one for service in services for one in service.characteristics.characteristics if one.is_notifying]
        peripherals.append({'state': remote.peripheral.state, 'services': hexadecimal(service.uuid for service in services),
                            'notifying': len(notifying)})
    say('willRestore', peripherals=peripherals, scan=hexadecimal(restored.scan.services) if restored.HasField('scan') else None,
        duplicates=restored.scan.allows_duplicates)


def will_restore_peripheral(restored):
    global is_restored
    is_restored = True
    say('willRestore', services=hexadecimal(service.uuid for service in restored.services),
        name=restored.advertisement.local_name, advertised=hexadecimal(restored.advertisement.services))


def state_changed(told):
    global is_restored
    say('state', state=told.state)
    if not SERVES:
        if told.state == POWERED_ON:
            begin()
        return
    # What was published and advertised goes on by itself, after a launch and after Bluetooth was off, not after a reset.
    if told.state < 4:
        is_restored = False
    if told.state == POWERED_ON and not is_restored:
        is_restored = True
        serve()


def discovered(found):
    global device
    say('discovered', peer=found.peripheral.peer.hex())
    if 'connect' in WISH and device is None:
        device = found.peripheral.peer
        connect(device, **WISH['connect'])


def connected(_):
    say('connected')
    if 'subscribe' in WISH and not is_restored:
        ask_device(discover_services={})


def disconnected(told):
    say('disconnected', error=error(told))
    if WISH.get('again'):
        connect(device)


def peripheral(told):
    kind = told.WhichOneof('event')
    if kind == 'services_discovered':
        for service in told.services_discovered.services:
            ask_device(discover_characteristics={'service': service.id})
    elif kind == 'characteristics_discovered':
        for one in told.characteristics_discovered.characteristics:
            if one.uuid == bytes.fromhex(WISH['subscribe']):
                ask_device(set_notify={'characteristic': one.id, 'is_notifying': True})
    elif kind == 'value_updated':
        work()
        say('value', value=told.value_updated.value.hex(), error=error(told))
    elif kind == 'notification_state_updated':
        say('notifying', error=error(told))


def work():
    """At a value, in the background."""
    if not is_behind:
        return
    if 'late' in WISH:
        threading.Timer(WISH['late'], lambda: say('late')).start()
    task = WISH.get('work')
    if task == 'done':
        client.send(app_move={'to': SUSPENDED})
    elif task is not None:
        client.send(app_move={'tasks': 1})
        if isinstance(task, (int, float)):
            threading.Timer(task, end_task).start()


def end_task():
    say('ended')
    client.send(app_move={'tasks': 0})


def read_request(told):
    say('read')
    answer = lambda: ask(respond={'request': told.request, 'value': b'here'})
    threading.Timer(WISH['answer'], answer).start() if 'answer' in WISH else answer()


HANDLERS = {f.__name__: f for f in (will_restore_central, will_restore_peripheral, state_changed, discovered, connected, disconnected,
                                    peripheral, read_request)}
# What is only printed: under which name, and with which field.
PRINTED = {'connection_failed': ('failed',), 'service_added': ('published', 'service'), 'advertising_started': ('advertising',),
           'channel_published': ('channel', 'psm')}


def handle(name, told):
    if name in HANDLERS:
        HANDLERS[name](told)
    elif name in PRINTED:
        event, *fields = PRINTED[name]
        say(event, **{field: getattr(told, field) for field in fields}, error=error(told))
    elif name == 'events_lost':
        say('lost', count=told)


def notice(told):
    global is_behind
    kind = told.WhichOneof('notice')
    if kind == 'log':
        say('log', text=told.log)
    elif kind == 'expiring':
        say('expiring')
        if WISH.get('work') == 'expiring':
            end_task()
    elif kind == 'remaining':
        is_behind = told.remaining != WITHOUT_END


def main():
    signal.signal(signal.SIGUSR1, lambda *_: ask(cancel_connection=device))
    say('began', launch=[*client.welcome.launch_centrals, *client.welcome.launch_peripherals],
        environment={name: os.environ[name] for name in ('CB_LAUNCH_CENTRALS', 'CB_LAUNCH_PERIPHERALS') if name in os.environ})
    options = {key: WISH[wish] for key, wish in (('restore_identifier', 'restore'), ('overflow', 'overflow')) if wish in WISH}
    ask(**{'create_peripheral' if SERVES else 'create_central': options})
    while (message := client.receive()) is not None:
        kind = message.WhichOneof('message')
        if kind == 'app_event':
            event = message.app_event
            name = event.WhichOneof('event')
            handle(name, getattr(event, name))
            if not WISH.get('busy'):
                client.returns(event)
        elif kind == 'app_notice':
            notice(message.app_notice)
        elif kind == 'refusal':
            say('refusal', reason=message.refusal.reason)


client = AppClient(os.environ['JELLING_SOCKET'], os.environ['JELLING_APP'], timeout=1_000_000)
main()
