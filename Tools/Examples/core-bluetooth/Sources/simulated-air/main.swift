import BLESimulator

let air = SimulatedAir()
let controller = air.addController(.core42())
air.addPeripheral(.jellingHeart)
air.advance(to: 1_000)
print(air.statistics(of: controller).rejections.count)
