#!/usr/bin/env python3
"""Merges what a fleet of gateways reports: each device once, as the gateway with the best signal has it.

  merge.py HOST PORT [--group NAME] [--hold SECONDS] [--margin DB]

Any number of these may run: the broker gives each document to one of them (shared subscription, MQTT 5), and they share what they know
through the broker.

  $share/GROUP/jelling/+/devices/+   in    the documents of all gateways
  fleet/best/ADDRESS                 both  the gateway with the best signal: {"gateway", "rssi", "time"}, retained
  fleet/devices/ADDRESS              out   the documents of that gateway

Another gateway takes a device over if it receives it better by the margin, or if the best one has been silent for the hold time.
Prints its counts five times a second, as JSON. Needs paho-mqtt 2."""
import argparse, json, signal, sys, time

try:
    import paho.mqtt.client as mqtt
    from paho.mqtt.properties import Properties
    from paho.mqtt.packettypes import PacketTypes
    mqtt.CallbackAPIVersion
except (ImportError, AttributeError):
    sys.exit('merge.py: paho-mqtt 2 is missing: python3 -m venv .cache/fleet && .cache/fleet/bin/pip install paho-mqtt, '
             f'then .cache/fleet/bin/python {sys.argv[0]} HOST PORT')


class Merger:
    def __init__(self, args):
        self.args, self.best = args, {}
        self.documents = self.merged = self.told = 0
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        self.client.on_connect = lambda client, *_: client.subscribe(
            [(f'$share/{args.group}/jelling/+/devices/+', mqtt.SubscribeOptions(1)), ('fleet/best/+', mqtt.SubscribeOptions(0))])
        self.client.on_subscribe = lambda *_: print(json.dumps({'ev': 'ready'}), flush=True)
        self.client.message_callback_add('fleet/best/+', self.learn)
        self.client.on_message = self.merge

    def learn(self, client, _, message):
        """What another consumer, or an earlier run, found."""
        said = json.loads(message.payload)
        self.best[message.topic[11:]] = said['gateway'], said['rssi'], said['time']

    def merge(self, client, _, message):
        self.documents += 1
        document = json.loads(message.payload)
        # A device that has an identity keeps it when it changes its address.
        address = document.get('identity', {}).get('address', document['address'])
        gateway, rssi, now = document['gateway'], document.get('rssiSmoothed', -127), time.time()
        known, strength, told = self.best.get(address, (gateway, -128, 0))
        if gateway != known and rssi < strength + self.args.margin and now - told < self.args.hold:
            return
        self.merged += 1
        client.publish(f'fleet/devices/{address}', message.payload, qos=0)
        # Only news, because every consumer hears it.
        if gateway != known or abs(rssi - strength) >= self.args.margin or now - told > self.args.hold / 3:
            self.told += 1
            self.best[address] = gateway, rssi, now
            client.publish(f'fleet/best/{address}', json.dumps({'gateway': gateway, 'rssi': rssi, 'time': now}), qos=0, retain=True)

    def run(self):
        properties = Properties(PacketTypes.CONNECT)
        properties.ReceiveMaximum = 1000
        try:
            self.client.connect(self.args.host, self.args.port, properties=properties)
        except OSError as error:
            sys.exit(f'merge.py: {self.args.host}:{self.args.port} cannot be reached: {error.strerror or error}')
        self.client.loop_start()
        running = True

        def stop(*_):
            nonlocal running
            running = False
        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        while running:
            time.sleep(0.2)
            print(json.dumps({'ev': 'count', 'documents': self.documents, 'merged': self.merged, 'told': self.told,
                              'processor': time.process_time()}), flush=True)
        self.client.disconnect()
        self.client.loop_stop()


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('host')
parser.add_argument('port', type=int)
parser.add_argument('--group', default='merge')
parser.add_argument('--hold', type=float, default=10)
parser.add_argument('--margin', type=float, default=4)
Merger(parser.parse_args()).run()
