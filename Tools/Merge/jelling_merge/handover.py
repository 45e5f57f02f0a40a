"""Which gateway has a device: state and rules, without clock and without broker.

Times are seconds of the caller's monotonic clock. They are never sent: what another consumer says counts from its arrival, so the clocks
of consumers may differ."""
import collections

# What a consumer says of a device to the others; `challenger` is a gateway that has begun to be better, or None.
Record = collections.namedtuple('Record', 'gateway rssi challenger')
# Whether the document is of the best gateway; what the others should be told, or None; devices that were forgotten for it.
Verdict = collections.namedtuple('Verdict', 'is_merged record forgotten')


class Best:
    """What is known of one device."""
    __slots__ = ('gateway', 'rssi', 'heard', 'told', 'rssi_told', 'challenger', 'challenged')

    def __init__(self, record, now):
        self.take(record, now)

    def take(self, record, now):
        self.gateway, self.rssi, self.heard, self.told, self.rssi_told = record.gateway, record.rssi, now, now, record.rssi
        self.challenge(record.challenger, now)

    def challenge(self, gateway, now):
        self.challenger, self.challenged = gateway, now

    def record(self):
        return Record(self.gateway, self.rssi, self.challenger)


class Handover:
    """The best gateway of each device; at most `most` devices, of which those that were heard last are kept.

    Another gateway takes a device over after it was better by `margin` dB for `time` seconds, or when the best one has been silent for
    `silence` seconds. A device that nobody has heard for `forget` seconds is forgotten."""

    def __init__(self, margin=4, time=5, silence=180, forget=86400, most=200_000):
        self.margin, self.time, self.silence, self.forget, self.most = margin, time, silence, forget, most
        self.devices = collections.OrderedDict()

    def learn(self, address, record, now):
        """What a consumer said, this one included: all hear all in the same order, so all end with the same. Returns who is forgotten."""
        best = self.devices.get(address)
        if record is None:
            self.devices.pop(address, None)
        elif best is None:
            return self.add(address, record, now)
        else:
            challenged = best.challenged if record.challenger == best.challenger else now
            best.take(record, now)
            best.challenged = challenged
            self.devices.move_to_end(address)
        return []

    def judge(self, address, gateway, rssi, now):
        """A document of a device."""
        best = self.devices.get(address)
        if best is None:
            record = Record(gateway, rssi, None)
            return Verdict(True, record, self.add(address, record, now))
        if gateway != best.gateway and not self.takes_over(best, rssi, now):
            return Verdict(False, self.challenge(best, gateway, rssi, now), [])
        is_news = (gateway != best.gateway or abs(rssi - best.rssi_told) >= self.margin or now - best.told >= self.silence / 2)
        if gateway != best.gateway:
            best.take(Record(gateway, rssi, None), now)
        best.rssi, best.heard = rssi, now
        self.devices.move_to_end(address)
        if is_news:
            best.told, best.rssi_told = now, rssi
        return Verdict(True, best.record() if is_news else None, [])

    def takes_over(self, best, rssi, now):
        if now - best.heard >= self.silence:
            return True
        if rssi < best.rssi + self.margin:
            return False
        return self.time == 0 or best.challenger is not None and self.time <= now - best.challenged < self.time + self.silence

    def challenge(self, best, gateway, rssi, now):
        """The record, if that begins or ends a challenge. Whoever is better when the time is over takes over: two that are about equal
        do not keep each other waiting."""
        if rssi < best.rssi + self.margin:
            if best.challenger != gateway:
                return None
            best.challenge(None, now)
        elif best.challenger is not None and now - best.challenged < self.time + self.silence:
            return None
        else:
            best.challenge(gateway, now)
        return best.record()

    def add(self, address, record, now):
        self.devices[address] = Best(record, now)
        return [self.devices.popitem(last=False)[0]] if len(self.devices) > self.most else []

    def expire(self, now):
        """The devices that are forgotten now, at most a thousand."""
        gone = []
        while self.devices and len(gone) < 1000:
            address, best = next(iter(self.devices.items()))
            if now - best.heard < self.forget:
                break
            del self.devices[address]
            gone.append(address)
        return gone
