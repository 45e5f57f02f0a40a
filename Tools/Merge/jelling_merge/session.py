"""One session with the broker: connection, subscriptions, and acknowledgements that wait for others."""
import contextlib, ssl, struct, time, uuid

import paho.mqtt.client as mqtt
from paho.mqtt import MQTTException
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from . import documents, settings

# Octets; longer documents do not come, so what one session has in hand is bounded.
LARGEST_PACKET = 262_144
# Documents of quality of service 0 have no acknowledgements that would make the broker wait: beyond so many they are dropped.
MOST_IN_HAND = 10_000
DROPPED = '$SYS/broker/publish/messages/dropped'


class Problem(Exception):
    """What ends the program; names cause and remedy."""


def reason(code):
    return str(code).lower()


class Session:
    """A session that the broker keeps when the connection ends. Its client identifier belongs to one consumer; who connects with it has
    what waits for that consumer, and ends the connection of who had it before.

    After the connection: what others know and the presence of all (retained), then the session's own presence with a number that nobody
    else has. When that comes back, everything that was retained has come; documents that arrive before are not looked at."""

    def __init__(self, merger, consumer, is_adopted=False):
        self.merger, self.consumer, self.is_adopted = merger, consumer, is_adopted
        self.settings = merger.settings
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5, manual_ack=True,
                                  client_id=f'jelling-merge-{self.settings.group}-{consumer}')
        self.client.on_connect, self.client.on_disconnect, self.client.on_message = self.connected, self.disconnected, self.received
        self.client.on_subscribe, self.client.on_unsubscribe = self.subscribed, self.unsubscribed
        self.client.on_publish = lambda client, _, number, code, *__: merger.published(number, code)
        if self.settings.context:
            self.client.tls_set_context(self.settings.context)
        self.presence_topic = self.settings.topics['consumer'].of(consumer)
        self.shared = f'$share/{self.settings.group}/{self.settings.topics["device"].filter}'
        self.is_connected, self.is_ready, self.run, self.epoch = False, False, None, 0
        self.pause, self.next, self.began, self.shown = 0, 0.0, 0.0, 0.0
        self.waiting, self.unanswered, self.problem, self.largest, self.has_ended = [], {}, None, LARGEST_PACKET, False
        self.in_flight = merger.own.in_flight if is_adopted else min(20, self.settings.mqtt['inFlight'])

    # Connection

    def presence(self, state):
        by = self.settings.name if self.is_adopted else None
        return documents.encoded(documents.Presence(state, self.settings.group, self.run, by))

    def connect(self, now):
        """One attempt; the next one after a pause that grows."""
        self.run = uuid.uuid4().hex
        self.pause = min(max(1, self.pause * 2), self.settings.mqtt['longestBackoff'])
        self.next = now + self.pause
        properties = Properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = self.settings.mqtt['sessionExpiry']
        properties.ReceiveMaximum = self.settings.mqtt['inFlight']
        properties.MaximumPacketSize = LARGEST_PACKET
        try:
            if self.settings.username:
                self.client.username_pw_set(self.settings.username, self.settings.password())
            if self.client.max_inflight_messages != self.in_flight:
                self.client.max_inflight_messages_set(self.in_flight)
            self.client.will_set(self.presence_topic, self.presence('lost'), qos=1, retain=True)
            self.client.connect(self.settings.host, self.settings.port, self.settings.mqtt['keepAlive'], clean_start=False, properties=properties)
        except (OSError, settings.Wrong, ValueError) as error:
            hint = '; check that the host is right and no certificate has expired' if isinstance(error, ssl.SSLError) else ''
            self.tell(f'no session with {self.settings.host}:{self.settings.port}: {getattr(error, "strerror", None) or error}{hint}')

    def tell(self, problem):
        if problem != self.problem:
            self.problem = problem
            self.merger.log(problem)

    def loop(self, seconds):
        if self.client.socket() is None:
            if not self.has_ended and (now := time.monotonic()) >= self.next and not self.is_adopted:
                self.connect(now)
            else:
                time.sleep(min(seconds, 0.05))
        else:
            try:
                self.client.loop(seconds)
                self.show_life(time.monotonic())
            except (struct.error, UnicodeDecodeError, MQTTException) as error:
                # Not a packet of MQTT.
                self.tell(f'the broker sends what is not MQTT 5: {error}')
                self.leave()

    def show_life(self, now):
        """paho-mqtt ends a connection whose ping is not answered in time, and the answer comes behind everything that waits, perhaps a million
        of retained topics. It does not ping while something else is sent."""
        if self.is_connected and now - self.shown >= self.settings.mqtt['keepAlive'] / 2:
            self.shown = now
            self.client.publish(self.presence_topic, self.presence('adopted' if self.is_adopted else 'online'), qos=0, retain=True)

    def connected(self, client, _, flags, code, properties):
        if code.is_failure:
            return self.tell(f'the broker refused the session: {reason(code)}')
        allowed = min(getattr(properties, 'ReceiveMaximum', 65535), self.settings.mqtt['inFlight'])
        if allowed != self.in_flight:
            # paho-mqtt does not look at what the broker allows, and takes another number between two connections alone.
            self.in_flight, self.next = allowed, 0
            client.disconnect()
            return
        self.is_connected, self.problem, self.shown = True, None, time.monotonic()
        self.epoch += 1
        self.largest = min(getattr(properties, 'MaximumPacketSize', LARGEST_PACKET), LARGEST_PACKET)
        if getattr(properties, 'SharedSubscriptionAvailable', 1) == 0 or getattr(properties, 'RetainAvailable', 1) == 0:
            raise Problem('the broker has no shared subscriptions or retains nothing; both are needed')
        self.merger.log(f'connected to {self.settings.host}:{self.settings.port}' + (f' for {self.consumer}' if self.is_adopted else ''))
        topics = self.settings.topics
        if self.is_adopted:
            # What waits stays; nothing new comes.
            client.unsubscribe([self.shared, topics['best'].filter, topics['consumer'].filter])
        else:
            # The documents first: after a restart Mosquitto 2.0 does not know shared subscriptions any more, and they would be lost.
            # The others with quality of service 0: the broker sends them at once and all, also when documents wait for acknowledgements.
            client.subscribe([(self.shared, mqtt.SubscribeOptions(1)), (topics['best'].filter, mqtt.SubscribeOptions(0)),
                              (topics['consumer'].filter, mqtt.SubscribeOptions(0))])

    def disconnected(self, client, _, flags, code, properties):
        was_connected, self.is_connected, self.is_ready = self.is_connected, False, False
        self.waiting.clear()
        if not was_connected:
            return
        if self.is_adopted:
            self.has_ended = True
        elif not self.has_ended:
            # Mosquitto 2.0 ends the connection when it refuses a message.
            topics = ', '.join(self.settings.topics[key].filter for key in ('merged', 'best', 'consumer'))
            self.tell(f'the session ended: {reason(code)}; if that repeats, another consumer has the name {self.consumer}, or the broker does not '
                      f'let this one publish {topics}: see its ACL')
            # Two of one name would take it from each other without an end: only a session that lasted begins again at once.
            if (now := time.monotonic()) - self.began > 60:
                self.pause = 0
            self.next = now + max(1, self.pause)
        self.merger.lost(self)

    def end(self, expires):
        """Ends the connection; the session too, if it expires."""
        self.has_ended = True
        self.close(b'\xe0\x07\x00\x05\x11\x00\x00\x00\x00' if expires else b'\xe0\x00')

    def close(self, disconnect):
        """Sends this packet and waits until the broker has closed: paho-mqtt closes at once, and if anything is unread then, the broker
        sees a reset in place of the packet."""
        if (connection := self.client.socket()) is None:
            return
        end = time.monotonic() + 2
        with contextlib.suppress(OSError):
            while self.client.want_write() and time.monotonic() < end:
                self.client.loop_write()
            connection.settimeout(2)
            connection.sendall(disconnect)
            while connection.recv(65536) and time.monotonic() < end:
                pass
        self.client.loop(0)

    def leave(self):
        """Ends the connection as if it were lost: the broker keeps the session, and tells the others."""
        self.has_ended = self.is_adopted
        self.close(b'\xe0\x01\x04')

    # Subscriptions

    def unsubscribed(self, *_):
        # Quality of service 1: behind everything that waits.
        self.client.subscribe([(self.presence_topic, mqtt.SubscribeOptions(1))])

    def subscribed(self, client, _, number, codes, properties):
        if not self.is_ready:
            if any(code.is_failure for code in codes):
                raise Problem(f'the broker refused a subscription: {", ".join(reason(c) for c in codes)}; see the topics in --help, and its ACL')
            self.announce()

    def announce(self):
        self.client.publish(self.presence_topic, self.presence('adopted' if self.is_adopted else 'online'), qos=1, retain=True)

    def received(self, client, _, message):
        if not self.is_connected:
            return
        topics, topic = self.settings.topics, message.topic
        if topics['best'].values(topic) is not None:
            self.acknowledge(message.mid, message.qos)
            return self.merger.learn(topics['best'].values(topic)['address'], message.payload)
        if (consumer := topics['consumer'].values(topic)) is not None:
            self.acknowledge(message.mid, message.qos)
            return self.learn(consumer['consumer'], message)
        if topic == DROPPED:
            return self.merger.learn_dropped(message.payload)
        if self.is_ready or self.is_adopted:
            self.merger.take(self, message)
        elif message.qos or len(self.waiting) < MOST_IN_HAND:
            self.waiting.append(message)

    def learn(self, consumer, message):
        presence = documents.presence(message.payload)
        if consumer == self.consumer and presence is not None and presence.run == self.run:
            if self.is_adopted:
                self.is_ready = message.qos == 1
            elif not self.is_ready:
                self.is_ready, self.began = True, time.monotonic()
                # What the broker drops is in no other place.
                self.client.subscribe(DROPPED, 0)
                self.merger.is_ready()
                waiting, self.waiting = self.waiting, []
                for document in waiting:
                    self.merger.take(self, document)
        elif not self.is_adopted:
            self.merger.learn_presence(consumer, presence)

    def acknowledge(self, number, qos=1, epoch=None):
        """Nothing, if the message came in an earlier connection: the broker has sent it again since."""
        if epoch is None or epoch == self.epoch and self.is_connected:
            self.client.ack(number, qos)
