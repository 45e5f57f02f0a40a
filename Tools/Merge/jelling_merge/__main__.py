import signal, sys, threading

from . import settings

try:
    import paho.mqtt.client as mqtt
    mqtt.CallbackAPIVersion
except (ImportError, AttributeError):
    sys.exit('jelling-merge: paho-mqtt 2 is missing: python3 -m pip install "paho-mqtt>=2", in an environment of its own')

from .merger import Merger, Problem   # noqa: E402


def log(text):
    print(f'jelling-merge: {text}', file=sys.stderr, flush=True)


def main():
    arguments = settings.parser().parse_args()
    try:
        chosen = settings.of(arguments)
    except settings.Wrong as error:
        log(f'error: {error}')
        return 2
    if arguments.check:
        log('the settings are right')
        return 0
    merger, stop = Merger(chosen, log), threading.Event()
    merger.prints = arguments.counts is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        merger.run(stop, arguments.counts)
    except Problem as error:
        log(f'error: {error}')
        return 1
    return 0


sys.exit(main())
