import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// A heart-rate belt and a door lock on one air with a station: apps hold the one and wait for the other.
final class BeltAndDoor {
    /// A manager that knows both.
    typealias Known = (central: TestManager, belt: PeerIdentifier, door: PeerIdentifier)

    let world: World
    let station: AppStation
    let belt: SimulatedDeviceID
    let door: SimulatedDeviceID
    var air: SimulatedAir { world.air }

    init(_ world: World = World()) {
        self.world = world
        station = AppStation(world)
        belt = world.air.addPeripheral(Profiles.belt())
        door = world.air.addPeripheral(Profiles.door())
    }

    /// Finds both, while they advertise.
    func acquaint(_ app: TestApp, _ options: ManagerOptions = ManagerOptions()) throws -> Known {
        let central = app.central(options)
        let lock = try #require(central.discover([Profiles.lock]))
        return (central, try #require(central.discover([Profiles.heartRate])), lock)
    }

    /// Connects to the belt and subscribes to it, and waits for the lock, which is away.
    /// - Parameter door: the options of that wish; `nil`: those of the belt.
    func engage(_ known: Known, _ options: ConnectOptions = ConnectOptions(), door wish: ConnectOptions? = nil) throws {
        air.setInRange(false, door)
        #expect(known.central.connect(known.belt, options))
        let list = known.central.explore(known.belt, Profiles.heartRate)
        #expect(known.central.subscribe(try #require(list[Profiles.heartRateMeasurement]), of: known.belt))
        known.central.ask(.connect(known.door, wish ?? options))
        known.central.run(.seconds(2))
        known.central.forget()
        station.forgetOutputs()
    }

    /// The lock comes near, the heart beats three times, the belt is taken off.
    func happen() {
        air.setInRange(true, door)
        world.run(for: .seconds(3))
        for beats in 61...63 {
            air.setValue([0, UInt8(beats)], of: Profiles.heartRateMeasurement, on: belt)
            world.run(for: .seconds(1))
        }
        air.disconnect(belt)
        world.run(for: .seconds(2))
    }
}
