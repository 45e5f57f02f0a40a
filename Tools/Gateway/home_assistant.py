"""Home Assistant's core with its MQTT integration, and nothing else of it: PYTHON home_assistant.py PORT SECONDS.

Connects to the broker on loopback, lets discovery work for some seconds, and prints a JSON object a line: {"entity", "unique",
"state", "attributes"} for each entity, {"log"} for each warning or error."""
import asyncio, json, logging, sys, tempfile

from homeassistant import bootstrap, config_entries, core, loader
from homeassistant.helpers import entity_registry


class Log(logging.Handler):
    def emit(self, record):
        text = record.getMessage()
        # Two platforms of the integration need libraries that sensors do not.
        if 'camera' not in text and 'image' not in text:
            print(json.dumps({'log': f'{record.levelname} {record.name}: {text}'}), flush=True)


async def main(port, seconds):
    home = core.HomeAssistant(tempfile.mkdtemp())
    home.config.skip_pip, home.config.safe_mode, home.config.legacy_templates = True, False, False
    open(home.config.path('configuration.yaml'), 'w').close()
    loader.async_setup(home)
    home.config_entries = config_entries.ConfigEntries(home, {})
    await bootstrap.async_load_base_functionality(home)
    # No HTTP server: the integration only wants to know that it is there.
    home.config.components.update(('http', 'file_upload'))
    entry = config_entries.ConfigEntry(version=1, minor_version=1, domain='mqtt', title='broker', source='user',
                                       data={'broker': '127.0.0.1', 'port': port, 'discovery': True})
    await home.config_entries.async_add(entry)
    await home.async_start()
    print(json.dumps({'loaded': entry.state is config_entries.ConfigEntryState.LOADED}), flush=True)
    await asyncio.sleep(seconds)
    for known in entity_registry.async_get(home).entities.values():
        state = home.states.get(known.entity_id)
        print(json.dumps({'entity': known.entity_id, 'unique': known.unique_id, 'state': state and state.state,
                          'attributes': {k: str(v) for k, v in (state.attributes if state else {}).items()}}), flush=True)
    await home.async_stop(force=True)


logging.basicConfig(level=logging.WARNING, handlers=[Log()])
asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
