import BLEHost
import Testing

@Suite("What is known of a controller before it is opened")
struct ExpectedControllerTests {
    @Test("another controller behind the transport takes nothing over from the one before (A26)")
    func replaced() {
        var host = Host(
            configuration: {
                var configuration = HostConfiguration()
                configuration.experience = ControllerExperience(found: [.scansWithLegacyCommands])
                return configuration
            }())
        #expect(host.controllerInformation.traits == [.scansWithLegacyCommands])
        host.expectController(nil, ControllerExperience(found: [.flaps]))
        #expect(host.controllerInformation.traits == [.flaps])
        host.expectController(ControllerIdentity(usbVendor: 0x10D7, usbProduct: 0xB012), ControllerExperience())
        #expect(host.controllerInformation.traits == [])
    }
}
