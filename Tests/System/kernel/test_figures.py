"""Figures of BlueZ's daemon and of bled with bled-bluez, in one run."""
import os

import pytest

from kernel import beside, figures

IS_INSIDE = 'JELLING_GUEST' in os.environ
if IS_INSIDE:
    from kernel import door


@pytest.mark.usefixtures('guests')
def test_figures():
    """Both do everything; JELLING_FIGURES=FILE keeps the table of Documentation/BlueZ.md"""
    found = {host: {} for host in beside.HOSTS}
    for scenario, measure in (figures.BESIDE, figures.peripheral), (figures.AMONG, figures.crowd):
        desk = door.Desk(scenario)
        try:
            for host in beside.HOSTS:
                desk.start_host(host)
                found[host] |= measure(desk)
                print(host, found[host], flush=True)
                desk.check_end()
                desk.stop_host()
        finally:
            desk.close()
    with open('/host/table.md', 'w') as file:
        file.write(figures.table(*found.values()))
