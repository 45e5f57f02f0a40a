import BLEPackets
import BLESimulator
import Testing

@Suite("Privacy in the link layer")
struct PrivacyTests {
    let air = SimulatedAir()
    let central: TestHost
    let peripheral: TestHost
    let centralAddress = SimulatedControllerConfiguration.address(1)
    let peripheralAddress = SimulatedControllerConfiguration.address(2)
    let centralKey = Key128(rawValue: 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B)
    let peripheralKey = Key128(rawValue: 0x1111_2222_3333_4444_5555_6666_7777_8888)

    init() {
        central = .ready(air, .numbered(1))
        peripheral = .ready(air, .numbered(2))
    }

    private func introduce(peripheralToo: Bool = true) {
        #expect(
            central.perform(
                LEAddDeviceToResolvingList(
                    peerIdentityAddress: peripheralAddress, peerIdentityResolvingKey: peripheralKey,
                    localIdentityResolvingKey: centralKey)) == .success)
        central.perform(LESetAddressResolutionEnable(isEnabled: true))
        guard peripheralToo else { return }
        peripheral.perform(
            LEAddDeviceToResolvingList(
                peerIdentityAddress: centralAddress, peerIdentityResolvingKey: centralKey,
                localIdentityResolvingKey: peripheralKey))
        peripheral.perform(LESetAddressResolutionEnable(isEnabled: true))
    }

    private func advertisePrivately(type: AdvertisingType = .connectableUndirected) {
        peripheral.perform(
            LESetAdvertisingParameters(
                minimumInterval: .milliseconds(100), maximumInterval: .milliseconds(100), type: type,
                ownAddressType: .resolvableOrPublic, peerAddress: centralAddress))
        #expect(peripheral.perform(LESetAdvertisingEnable(isEnabled: true)) == .success)
    }

    @Test("a holder of the key sees the identity, everyone else a private address that changes")
    func reports() throws {
        introduce()
        let stranger = TestHost.ready(air, .numbered(3))
        peripheral.perform(LESetResolvablePrivateAddressTimeout(timeout: 1))
        advertisePrivately()
        central.scan()
        stranger.scan()
        central.run(milliseconds: 3500)
        stranger.collect()
        let identity = DeviceAddress(value: peripheralAddress.value, kind: .publicIdentity)
        #expect(!central.legacyReports.isEmpty && central.legacyReports.allSatisfy { $0.address == identity })
        let seen = Set(stranger.legacyReports.map(\.address))
        #expect(seen.count >= 3 && seen.allSatisfy { $0.randomKind == .resolvablePrivate })
    }

    @Test("a link between two that know each other names identities, and the private addresses beside them")
    func link() throws {
        introduce()
        advertisePrivately()
        central.perform(
            LECreateConnection(
                scanInterval: .milliseconds(60), scanWindow: .milliseconds(60), peerAddress: peripheralAddress,
                ownAddressType: .resolvableOrPublic, parameters: TestHost.linkParameters))
        central.run(milliseconds: 500)
        peripheral.collect()
        let ours = try #require(central.lastLink)
        let theirs = try #require(peripheral.lastLink)
        #expect(ours.peerAddress == DeviceAddress(value: peripheralAddress.value, kind: .publicIdentity))
        #expect(theirs.peerAddress == DeviceAddress(value: centralAddress.value, kind: .publicIdentity))
        let shown = try #require(ours.peerResolvableAddress)
        #expect(theirs.localResolvableAddress == shown && shown.randomKind == .resolvablePrivate)
        #expect(ours.localResolvableAddress == theirs.peerResolvableAddress && ours.localResolvableAddress != nil)
        let read = central.query(LEReadPeerResolvableAddress(peerIdentityAddress: peripheralAddress))
        #expect(read?.address == shown)
        let local = central.query(LEReadLocalResolvableAddress(peerIdentityAddress: peripheralAddress))
        #expect(local?.address == ours.localResolvableAddress)
    }

    @Test("in network privacy a peer with a key that shows its identity is not heard; in device privacy it is")
    func modes() {
        introduce(peripheralToo: false)
        peripheral.advertise()
        central.scan()
        central.run(milliseconds: 500)
        #expect(central.legacyReports.isEmpty)
        central.perform(LESetScanEnable(isEnabled: false))
        #expect(
            central.perform(LESetPrivacyMode(peerIdentityAddress: peripheralAddress, mode: .device)) == .success)
        central.perform(LESetScanEnable(isEnabled: true))
        central.run(milliseconds: 500)
        #expect(!central.legacyReports.isEmpty)
    }

    @Test("the accept list knows identities")
    func acceptList() {
        introduce()
        advertisePrivately()
        central.perform(LEAddDeviceToFilterAcceptList(address: peripheralAddress))
        central.perform(LESetScanParameters(filterPolicy: .acceptListOnly))
        central.perform(LESetScanEnable(isEnabled: true))
        central.run(milliseconds: 500)
        #expect(!central.legacyReports.isEmpty)
    }

    @Test("directed advertising to a private address reaches the one whose key made it")
    func directed() {
        introduce()
        advertisePrivately(type: .connectableDirectedLowDutyCycle)
        let stranger = TestHost.ready(air, .numbered(3))
        stranger.scan()
        central.scan()
        central.run(milliseconds: 500)
        stranger.collect()
        #expect(!central.legacyReports.isEmpty && stranger.legacyReports.isEmpty)
    }

    @Test("a simulated device with a key shows private addresses that the sample hash fits")
    func device() throws {
        let address = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
        air.addPeripheral(
            SimulatedPeripheral(
                name: "Private", address: address,
                link: SimulatedLinkBehaviour(
                    identityResolvingKey: peripheralKey, privateAddressMicroseconds: 2_000_000)))
        central.scan()
        central.run(milliseconds: 5000)
        let seen = Set(central.legacyReports.map(\.address))
        #expect(seen.count >= 2 && !seen.contains(address))
        central.perform(LESetScanEnable(isEnabled: false))
        central.perform(
            LEAddDeviceToResolvingList(
                peerIdentityAddress: address, peerIdentityResolvingKey: peripheralKey,
                localIdentityResolvingKey: .zero))
        central.perform(LESetAddressResolutionEnable(isEnabled: true))
        let handle = try central.connect(to: address)
        #expect(central.lastLink?.peerAddress == DeviceAddress(value: address.value, kind: .randomIdentity))
        #expect(handle == central.lastLink?.connectionHandle)
        // The sample of the address hash (Core 5.4, Vol 3, Part H, D.7): ah(IRK, 0x708194) is 0x0DFBAA.
        let hash = central.query(LEEncrypt(key: centralKey, plaintext: 0x70_8194))
        #expect((hash?.ciphertext ?? 0) & 0xFF_FFFF == 0x0D_FBAA)
    }
}
