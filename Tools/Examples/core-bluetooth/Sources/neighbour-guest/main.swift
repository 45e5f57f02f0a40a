import CoreBluetooth
import Neighbour

print(CBUUID(string: "180F"), serviceName() ?? "no Core Bluetooth")
