"""The consumer: documents in, those of the best gateways out. One thread; everything happens in `step`."""
import json, os, random, socket, sys, time

from . import documents
from .handover import Handover
from .session import MOST_IN_HAND, Problem, Session

# Seconds until the broker is asked again to take a message that it refused.
PAUSE_AFTER_REFUSAL = 10
MOST_CONSUMERS = 10_000


class Unanswered:
    """A merged document that the broker has not acknowledged, and where the gateway's came from."""
    __slots__ = ('session', 'number', 'epoch', 'topic', 'payload')

    def __init__(self, session, number, topic, payload):
        self.session, self.number, self.epoch, self.topic, self.payload = session, number, session.epoch, topic, payload

    def acknowledge(self):
        if self.session.unanswered.get(self.number) is self:
            del self.session.unanswered[self.number]
        self.session.acknowledge(self.number, epoch=self.epoch)


class Merger:
    def __init__(self, settings, log):
        self.settings, self.log = settings, log
        handover, devices = settings.handover, settings.devices
        # Not all consumers should forget a device, and tell the broker so, at the same time.
        self.handover = Handover(handover['margin'], handover['time'], handover['silence'],
                                 devices['forget'] * (1 + random.random() / 10), devices['most'])
        self.counts = dict.fromkeys(('documents', 'merged', 'superseded', 'malformed', 'again', 'refused', 'told', 'adopted', 'forgotten'), 0)
        self.unanswered, self.refused, self.refusal_told = {}, [], -1e9
        # Consumers that are away: since when.
        self.away, self.adopted = {}, None
        self.announced, self.dropped_told, self.dropped, self.prints = -1e9, -1e9, None, False
        self.own = Session(self, settings.name)

    # Documents

    def take(self, session, message):
        number, payload = message.mid, message.payload
        if message.qos and (known := session.unanswered.get(number)) and message.dup and known.payload == payload:
            # Sent again after another connection, while the merged one is still on its way.
            known.epoch = session.epoch
            return
        self.counts['documents'] += 1
        self.counts['again'] += message.dup
        place, document = self.settings.topics['device'].values(message.topic), documents.document(payload)
        # A gateway speaks for itself: the broker lets it publish under its name alone.
        if place is None or document is None or place.get('gateway', document.gateway) != document.gateway:
            self.counts['malformed'] += 1
            return session.acknowledge(number, message.qos)
        is_merged, record, forgotten = self.handover.judge(document.address, document.gateway, document.rssi, time.monotonic())
        if record:
            self.tell(document.address, record)
        for address in forgotten:
            self.tell_forgotten(address)
        topic = self.settings.topics['merged'].of(document.address)
        if not is_merged:
            self.counts['superseded'] += 1
            session.acknowledge(number, message.qos)
        elif len(payload) + len(topic.encode()) + 16 > self.own.largest or not message.qos and len(self.unanswered) >= MOST_IN_HAND:
            self.counts['refused'] += 1
            session.acknowledge(number, message.qos)
        else:
            waiting = Unanswered(session, number, topic, payload)
            if message.qos:
                session.unanswered[number] = waiting
            self.publish(waiting)

    def publish(self, waiting):
        self.unanswered[self.own.client.publish(waiting.topic, waiting.payload, qos=1).mid] = waiting

    def published(self, number, code):
        waiting = self.unanswered.pop(number, None)
        if waiting is None:
            return
        if code.is_failure and waiting.number == 0:
            self.counts['refused'] += 1
        elif code.is_failure:
            # Nothing is acknowledged that was not taken: it is sent again, and waits at the broker meanwhile.
            self.counts['refused'] += 1
            now = time.monotonic()
            self.refused.append((now + PAUSE_AFTER_REFUSAL, waiting))
            if now - self.refusal_told > 600:
                self.refusal_told = now
                self.log(f'the broker refuses {waiting.topic}: {str(code).lower()}; documents wait until it takes them: check its ACL')
        else:
            self.counts['merged'] += 1
            waiting.acknowledge()

    # What consumers tell each other

    def tell(self, address, record):
        self.counts['told'] += 1
        self.own.client.publish(self.settings.topics['best'].of(address), documents.encoded(record), qos=0, retain=True)

    def tell_forgotten(self, address):
        self.counts['forgotten'] += 1
        self.own.client.publish(self.settings.topics['best'].of(address), b'', qos=0, retain=True)

    def learn(self, address, payload):
        record = documents.best(payload) if payload else None
        if payload and record is None or documents.level(address) is None:
            return
        for other in self.handover.learn(address, record, time.monotonic()):
            self.tell_forgotten(other)

    def learn_presence(self, consumer, presence):
        if consumer == self.settings.name:
            # Another connection of this session ended, or somebody else says so.
            if self.own.is_ready and time.monotonic() - self.announced > 1:
                self.announced = time.monotonic()
                self.own.announce()
        elif presence is None or presence.group != self.settings.group or presence.state == 'online':
            self.away.pop(consumer, None)
        elif len(self.away) < MOST_CONSUMERS and documents.level(consumer):
            # While another consumer takes it over, it says so; if that one dies, the broker says that this one is lost again.
            self.away[consumer] = time.monotonic() + (3600 if presence.state == 'adopted' else random.random() * self.settings.takeover / 4)

    def learn_dropped(self, payload):
        dropped = int(payload) if payload.isdigit() and len(payload) < 16 else 0
        if self.dropped is not None and dropped > self.dropped and (now := time.monotonic()) - self.dropped_told > 600:
            self.dropped_told = now
            self.log(f'the broker dropped {dropped - self.dropped} messages, perhaps documents: set its max_queued_messages to 0')
        self.dropped = dropped

    def is_ready(self):
        self.log('ready')
        self.print_event('ready')

    # What waits for others

    def adopt(self, now):
        """Takes over what waits for a consumer that did not return in time, one after the other."""
        adopted = self.adopted
        if adopted is None:
            late = [c for c, since in self.away.items() if now - since >= self.settings.takeover]
            if late and self.own.is_ready:
                self.away[late[0]] = now
                self.adopted = Session(self, late[0], is_adopted=True)
                self.adopted.connect(now)
        elif adopted.has_ended or adopted.client.socket() is None:
            self.adopted = None
        elif adopted.is_ready and not adopted.unanswered:
            # Its own presence came after everything that waited.
            adopted.end(expires=True)
            self.adopted = None
            self.away.pop(adopted.consumer, None)
            self.counts['adopted'] += 1
            self.own.client.publish(adopted.presence_topic, b'', qos=1, retain=True)
            self.log(f'took over what waited for {adopted.consumer}')

    def lost(self, session):
        if session is self.own and self.adopted is not None:
            self.adopted.leave()

    # The loop

    def step(self, seconds):
        if self.adopted is not None:
            seconds = 0.005
            self.adopted.loop(seconds)
        self.own.loop(seconds)
        now = time.monotonic()
        self.adopt(now)
        if self.own.is_connected:
            for address in self.handover.expire(now):
                self.tell_forgotten(address)
            while self.refused and self.refused[0][0] <= now:
                self.publish(self.refused.pop(0)[1])

    def run(self, stop, interval):
        # Also while the broker is away: it goes on when the broker is back.
        notify('READY=1')
        printed = watched = 0.0
        while not stop.is_set():
            self.step(0.2)
            now = time.monotonic()
            if interval and now - printed >= interval:
                printed = now
                self.print_event('count')
            if now - watched >= 5:
                watched = now
                notify('WATCHDOG=1')
        notify('STOPPING=1')
        self.finish()

    def finish(self):
        """What is in hand is finished; what waits at the broker is taken over after the next start, or by others."""
        if self.adopted is not None:
            self.adopted.leave()
        if self.own.is_connected:
            self.own.is_ready = False
            self.own.client.publish(self.own.presence_topic, self.own.presence('stopped'), qos=1, retain=True)
            end = time.monotonic() + 5
            while self.own.is_connected and time.monotonic() < end and (self.unanswered or self.own.client.want_write()):
                self.own.loop(0.05)
            self.own.end(expires=False)
        self.print_event('count')

    def print_event(self, event):
        if not self.prints:
            return
        print(json.dumps({'ev': event, **self.counts, 'devices': len(self.handover.devices), 'unanswered': len(self.unanswered),
                          'processor': time.process_time()}), flush=True)


def notify(state):
    """Tells systemd."""
    path = os.environ.get('NOTIFY_SOCKET')
    if not path:
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.sendto(state.encode(), '\0' + path[1:] if path.startswith('@') else path)
    except OSError as error:
        print(f'jelling-merge: {path}: {error.strerror}', file=sys.stderr)
