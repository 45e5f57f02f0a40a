"""The image with bled and jelling-gateway."""
import json

from jelling.child import wait_until

from image.cases import *   # noqa: F403

ARCHITECTURE, ADDED = 'amd64', ['bletool']


def test_clock_is_set(bed):
    """the wall clock is set by hours, forwards and back, while the gateway waits for the broker and in a session: messages go on at
    once, with the time of the clock"""
    shell = bed.machine.shell

    def set_clock(hours):
        """(the moment, an hour later), as documents have them."""
        shell(f'date -s @$(($(date +%s) + {hours * 3600}))')
        return shell('date -u +%Y-%m-%dT%H:%M:%S').strip(), shell('date -u -d @$(($(date +%s) + 3600)) +%Y-%m-%dT%H:%M:%S').strip()
    for hours in 7, -14, 7:
        bed.bench.stop_broker()
        wait_until(lambda: 'no' not in shell("wget -q -O - http://127.0.0.1:9464/metrics | grep -q '^jelling_gateway_mqtt_connected 0' || echo no",
                                             status=None), 'the broker is missed', 300, 1)
        begin, end = set_clock(hours)
        bed.bench.resume_broker()
        bed.goes_on(f'messages in another session, {hours} h from before', lambda payload: begin <= json.loads(payload)['time'] < end)
        begin, end = set_clock(-hours)
        bed.goes_on(f'messages in a session, {-hours} h from before', lambda payload: begin <= json.loads(payload)['time'] < end)
        set_clock(hours)
