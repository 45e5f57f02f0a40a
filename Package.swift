// swift-tools-version: 6.2
import PackageDescription

/// Settings of every Swift target: language mode 6 comes with the tools version. All code marks what is unsafe.
let strict: [SwiftSetting] = [
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .strictMemorySafety(),
]

/// Modules whose libraries nobody else should have to fetch: clients choose the traits `Services` and `Publishers`. The
/// project's own tests set JELLING_SERVICES=1 instead, which builds nothing else again.
let hasServices = Context.environment["JELLING_SERVICES"] == "1"
let withServices: TargetDependencyCondition? = hasServices ? nil : .when(traits: ["Services"])
let forServices = strict + [hasServices ? .define("SERVICES") : .define("SERVICES", .when(traits: ["Services"]))]
let withPublishers: TargetDependencyCondition? = hasServices ? nil : .when(traits: ["Publishers"])
let forPublishers =
    strict + [hasServices ? .define("PUBLISHERS") : .define("PUBLISHERS", .when(traits: ["Publishers"]))]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

/// A module with its folder in Sources; what it depends on follows its name.
func module(
    _ name: String, _ dependencies: Target.Dependency..., path: String? = nil, settings: [SwiftSetting] = strict,
    plugins: [Target.PluginUsage]? = nil, linkerSettings: [LinkerSetting]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path, swiftSettings: settings, linkerSettings: linkerSettings,
        plugins: plugins)
}

/// A program with its folder in Sources.
func program(
    _ name: String, _ dependencies: Target.Dependency..., path: String? = nil, settings: [SwiftSetting] = strict
) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

/// A sample of Tools/Examples/core-bluetooth, which the tests run.
func sample(_ name: String, settings: [SwiftSetting] = [.strictMemorySafety()]) -> Target {
    program(name, "CoreBluetooth", path: "Tools/Examples/core-bluetooth/Sources/\(name)", settings: settings)
}

/// The tests of a module, in Tests.
func tests(_ module: String, _ dependencies: Target.Dependency..., plugins: [Target.PluginUsage]? = nil) -> Target {
    .testTarget(name: module + "Tests", dependencies: dependencies, swiftSettings: strict, plugins: plugins)
}

let package = Package(
    name: "jelling",
    products: [
        // BLEPresentation makes errors `LocalizedError` and describes values; a client need not import it.
        .library(name: "BLE", targets: ["BLE", "BLEPresentation"]),
        // The same without Foundation, for images that must be small.
        .library(name: "BLEFirmware", targets: ["BLE"]),
        .library(name: "BLEValues", targets: ["BLEValues", "BLEPresentation"]),
        .library(name: "BLESecurity", targets: ["BLESecurity"]),
        .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
        .library(name: "BLEHost", targets: ["BLEHost"]),
        .library(name: "BLEAppLifecycle", targets: ["BLEAppLifecycle"]),
        .library(name: "BLEPackets", targets: ["BLEPackets"]),
        .library(name: "BLECapture", targets: ["BLECapture"]),
        .library(name: "BLEDecoder", targets: ["BLEDecoder"]),
        .library(name: "BLEAssignedNumbers", targets: ["BLEAssignedNumbers"]),
        .library(name: "BLESensors", targets: ["BLESensors"]),
        .library(name: "BLESimulator", targets: ["BLESimulator"]),
        .library(name: "BLETestKit", targets: ["BLETestKit", "BLEPresentation"]),
        .library(name: "CoreBluetoothTestKit", targets: ["CoreBluetoothTestKit"]),
        .library(name: "BLERecording", targets: ["BLERecording"]),
        .library(name: "BLEVirtualTransports", targets: ["BLEVirtualTransports"]),
        .library(name: "BLEUSB", targets: ["BLEUSB"]),
        // The values of device management are in its interface.
        .library(name: "BLEUpdate", targets: ["BLEUpdate", "BLEManagement"]),
        .library(name: "BLEDaemonClient", targets: ["BLEDaemonClient"]),
        .library(name: "BLELogging", targets: ["BLELogging"]),
        .library(name: "BLEMetrics", targets: ["BLEMetrics"]),
        .library(name: "BLEServiceLifecycle", targets: ["BLEServiceLifecycle"]),
        .library(name: "CoreBluetoothPublishers", targets: ["CoreBluetoothPublishers"]),
        .plugin(name: "DelegateMethods", targets: ["DelegateMethods"]),
        .executable(name: "bletool", targets: ["bletool"]),
        .executable(name: "bled", targets: ["bled"]),
    ],
    traits: [
        .trait(name: "Services", description: "BLELogging, BLEMetrics and BLEServiceLifecycle, for servers"),
        .trait(name: "Publishers", description: "CoreBluetoothPublishers, for programs that use OpenCombine"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        // Not fetched unless something that is built needs them.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        // MARK: C
        // The kernel's Bluetooth sockets. Without pkg-config, which would link the library: only its headers are used.
        .systemLibrary(name: "CBluetooth", providers: [.apt(["libbluetooth-dev"])]),
        .target(name: "CLinux", dependencies: ["CBluetooth"]),
        // Loads libusb when a USB device is opened; only its header is used here, and nothing of it is linked.
        .target(name: "CUSB"),
        // Loads zlib when a compressed file is opened; nothing of it is linked.
        .target(name: "CZlib"),
        // Only a module map: the submodules of Apple's framework.
        .target(name: "CoreBluetoothSubmodules"),
        // Declares what CLinux has without importing it, so that no module above asks its clients for C.
        module("BLELinux", "CLinux", settings: strict + [.enableExperimentalFeature("Extern")]),

        // MARK: Modules
        module("BLEPackets"),
        // Pure, and imports nothing: how texts of others are shown safely.
        module("BLEText"),
        // Pure: the files that people write for the simulator and for bletool.
        module("BLEJSON", "BLEText"),
        // Opens every file of state, and those that users name for output; imports nothing of ours.
        module("BLEStateFiles"),
        module("BLEServiceManager"),
        // What is compressed by zlib, for files of users.
        module("BLEDecompression", "CZlib", settings: strict + [.enableExperimentalFeature("Extern")]),
        module("BLECapture", "BLEDecompression", "BLEPackets", "BLEStateFiles"),
        // Names of numbers, separate from BLEPackets so that firmware need not carry them.
        module("BLEAssignedNumbers"),
        // Pure: what the octets of sensors and of assigned characteristics mean, separate from what firmware carries.
        module("BLESensors", "BLEPackets", "BLEAssignedNumbers"),
        // Pure: imports only the modules below it and the standard library.
        module("BLEDecoder", "BLEPackets", "BLECapture", "BLEAssignedNumbers", "BLESensors", "BLEText"),
        // Pure: how chips on serial ports are started.
        module("BLEChips", "BLEPackets"),
        module("BLETransport", "BLEChips", "BLELinux", "BLEPackets"),
        // Pure: the octets of device management (mcumgr's SMP), for clients and for simulated devices.
        module("BLEManagement"),
        // Rounds numbers and imports no C library: a program with only this module would lack libm.
        module("BLESimulator", "BLEManagement", "BLEPackets", "BLEJSON", linkerSettings: [.linkedLibrary("m")]),
        module("BLEHost", "BLEPackets"),
        // Pure: one description for each message, and its forms: Protocol Buffers, JSON, the schema.
        module("BLEMessages", "BLEAppLifecycle", "BLEHost", "BLEJSON", "BLEPackets"),
        module(
            "BLESecurity", "BLEHost", "BLELinux", "BLEStateFiles", .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "CryptoExtras", package: "swift-crypto")),
        module("BLE", "BLEChips", "BLEHost", "BLEText", "BLETransport"),
        module("BLEPresentation", "BLE"),
        module(
            "BLELogging", "BLE", .product(name: "Logging", package: "swift-log", condition: withServices),
            settings: forServices),
        module(
            "BLEMetrics", "BLE", .product(name: "Metrics", package: "swift-metrics", condition: withServices),
            settings: forServices),
        module(
            "BLEServiceLifecycle", "BLE",
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: withServices),
            settings: forServices),
        // Typed values of characteristics, separate from BLE so that firmware need not carry their formats.
        module("BLEValues", "BLE", "BLESensors"),
        module("BLEVirtualTransports", "BLESimulator", "BLEText", "BLETransport", "BLECapture"),
        // Controllers at USB without the kernel's stack; separate, so that firmware does not carry it.
        module(
            "BLEUSB", "BLEPackets", "BLETransport", "CUSB", settings: strict + [.enableExperimentalFeature("Extern")]),
        // Firmware update: the protocols as values, files, and a client on BLE; separate, so that firmware does not carry it.
        module(
            "BLEUpdate", "BLE", "BLEDecompression", "BLEJSON", "BLEManagement",
            .product(name: "Crypto", package: "swift-crypto")),
        // Pure: the steps of scripts over a link, and what they say.
        module("BLEScripts", "BLEAssignedNumbers", "BLEHost", "BLEJSON", "BLEPackets", "BLESensors", "BLEText"),
        // Pure: from the radio's reports to the broker's messages.
        module(
            "BLEGateway", "BLEHost", "BLEPackets", "BLEScripts", "BLESensors", "BLEAssignedNumbers", "BLEJSON",
            .product(name: "Crypto", package: "swift-crypto")),
        // Pure: the Bluetooth proxy in ESPHome's native API, without its sockets.
        module(
            "BLEESPHome", "BLEGateway", "BLEHost", "BLEMessages", "BLEPackets",
            .product(name: "Crypto", package: "swift-crypto")),
        // Pure: Matter's BLE proxy, a client of a matter-server, without its socket.
        module(
            "BLEMatter", "BLEGateway", "BLEHost", "BLEJSON", "BLEPackets",
            .product(name: "Crypto", package: "swift-crypto")),
        // Pure: BlueZ's interface on D-Bus, without the bus.
        module("BLEBlueZ", "BLEHost", "BLEJSON", "BLEPackets"),
        module("BLEAppLifecycle", "BLEPackets", "BLEHost"),
        // What outlives apps, on disk.
        module("BLEAppState", "BLE", "BLEAppLifecycle", "BLEStateFiles"),
        module(
            "CoreBluetooth", "BLE", "BLEAppLifecycle", "BLEAppState", "BLEAssignedNumbers", "BLEDaemonClient",
            "BLEMessages", "BLESecurity", "BLEText", "BLEUSB", "BLEVirtualTransports", "CoreBluetoothSubmodules"),
        // Keeps an optimizer from removing the delegate methods that an app's subclasses add.
        module("DelegateScanner"),
        program("delegate-methods", "DelegateScanner"),
        .plugin(name: "DelegateMethods", capability: .buildTool(), dependencies: ["delegate-methods"]),
        // Simulated devices, faults and a clock for the tests of apps: on BLE, and on Core Bluetooth.
        module("BLETestKit", "BLE", "BLESimulator", "BLETransport"),
        module("CoreBluetoothTestKit", "BLE", "BLETestKit", "CoreBluetooth"),
        module(
            "CoreBluetoothPublishers", "CoreBluetooth",
            .product(name: "OpenCombine", package: "OpenCombine", condition: withPublishers), settings: forPublishers),
        module("BLERecording", "BLECapture", "BLEHost", "BLEJSON", "BLEMessages", "BLEPackets", "BLEStateFiles"),
        module(
            "BLEDaemon", "BLE", "BLEAppLifecycle", "BLEAppState", "BLECapture", "BLEHost", "BLEJSON", "BLELinux",
            "BLEMessages", "BLEPackets", "BLEStateFiles", "BLETransport"),
        module("BLEDaemonClient", "BLE", "BLEAppLifecycle", "BLEHost", "BLEMessages", "BLEPackets", "BLETransport"),

        // MARK: Programs
        program(
            "bled", "BLE", "BLEAppState", "BLEDaemon", "BLEDaemonClient", "BLEJSON", "BLEPackets", "BLESecurity",
            "BLEServiceManager", "BLEText", "BLETransport", "BLEUSB", "BLEVirtualTransports", argumentParser, logging),
        program(
            "bletool", "BLE", "BLEAppState", "BLEAssignedNumbers", "BLECapture", "BLEDaemonClient", "BLEDecoder",
            "BLEJSON",
            "BLELinux", "BLEManagement", "BLERecording", "BLEScripts", "BLESecurity", "BLESensors", "BLEStateFiles",
            "BLEText", "BLEUSB", "BLEUpdate", "BLEVirtualTransports", argumentParser),
        program(
            "simulated-controllers", "BLESimulator", "BLEText", "BLETransport", "BLEPackets", "BLEVirtualTransports"),

        // MARK: What tests use
        sample("heart-rate-central"),
        sample("transfer-peripheral", settings: [.swiftLanguageMode(.v5), .strictMemorySafety()]),
        sample("transfer-central", settings: [.swiftLanguageMode(.v5), .strictMemorySafety()]),
        sample("heart-rate-relay"),
        sample("protected-reader"),
        // Offers services from the background, and finds them.
        sample("hidden-service", settings: strict),
        // Killed by the tests while it writes.
        program("journal-writer", "CoreBluetooth", path: "Tests/JournalWriter"),
        program("bond-store-writer", "BLESecurity", path: "Tests/BondStoreWriter"),
        // For Tools/Checks/messages.
        program("message-echo", "BLEMessages", "MessageDrawing", path: "Tests/MessageEcho"),
        // The bodies of Tools/Fuzz, so that its findings are replayed with the other tests.
        module(
            "FuzzBodies", "BLEAppLifecycle", "BLECapture", "BLEChips", "BLEDaemon", "BLEDecoder", "BLEHost",
            "BLEManagement", "BLEMessages", "BLEPackets", "BLETransport", "BLEUSB", "BLEUpdate", "MessageDrawing",
            path: "Tools/Fuzz/Sources/FuzzBodies"),
        // Messages that are drawn from octets, and the schema that they have: for tests and fuzzers.
        module("MessageDrawing", "BLEMessages", path: "Tests/MessageDrawing"),
        // Engines on one virtual air, for every test that needs more than one machine.
        module("TestSupport", "BLEHost", "BLEPackets", "BLESecurity", "BLESimulator", path: "Tests/TestSupport"),
        // A library's delegates and their subclasses, as the tests of delegates meet them.
        module(
            "ForeignDelegates", "CoreBluetooth", path: "Tests/ForeignDelegates", settings: [.swiftLanguageMode(.v5)],
            plugins: ["DelegateMethods"]),
        // The same, as an optimizer leaves them: without the plugin, and with it.
        module(
            "OptimizedDelegates", "ForeignDelegates", path: "Tests/OptimizedDelegates",
            settings: [.unsafeFlags(["-O"])]),
        module(
            "ScannedDelegates", "ForeignDelegates", path: "Tests/ScannedDelegates",
            settings: strict + [.unsafeFlags(["-O"])], plugins: ["DelegateMethods"]),

        // MARK: Tests
        tests("Fuzz", "FuzzBodies"),
        tests("BLEText", "BLEText", "BLEJSON"),
        tests("BLEStateFiles", "BLEStateFiles"),
        tests("BLEPackets", "BLEPackets"),
        tests("BLECapture", "BLECapture"),
        tests("BLEDecoder", "BLEDecoder", "BLEAssignedNumbers", "BLECapture"),
        tests("BLEBlueZ", "BLEBlueZ", "BLEHost", "BLEPackets"),
        tests("BLEESPHome", "BLEESPHome", "BLEGateway", "BLEHost", "BLEMessages", "BLEPackets"),
        tests("BLEMatter", "BLEGateway", "BLEHost", "BLEJSON", "BLEMatter", "BLEPackets"),
        tests("BLEGateway", "BLEGateway", "BLEHost", "BLEJSON", "BLEPackets", "BLESecurity", "BLESensors"),
        tests("BLESensors", "BLESensors", "BLEHost", "BLESecurity"),
        tests("BLEChips", "BLEChips"),
        tests("BLETransport", "BLETransport", "BLEChips"),
        tests("BLESimulator", "BLESimulator"),
        tests("BLEUSB", "BLEUSB", "BLEPackets", "BLETransport"),
        tests("BLEHost", "BLEHost", "BLEJSON", "BLEMessages", "BLESimulator", "BLESecurity", "TestSupport"),
        tests("BLESecurity", "BLESecurity", "BLEHost", "bond-store-writer"),
        tests(
            "BLEAppLifecycle", "BLEAppLifecycle", "BLEHost", "BLEJSON", "BLEMessages", "BLESecurity", "BLESimulator",
            "TestSupport"),
        tests("BLE", "BLE", "BLEPresentation", "BLEVirtualTransports", "BLESimulator"),
        tests(
            "BLEUpdate", "BLE", "BLEManagement", "BLESimulator", "BLETestKit", "BLETransport", "BLEUpdate"),
        tests("BLEValues", "BLE", "BLEValues", "BLEVirtualTransports", "BLESimulator"),
        tests(
            "BLETestKit", "BLE", "BLETestKit", "BLEPresentation", "BLEValues", "CoreBluetooth", "CoreBluetoothTestKit"),
        tests("BLEVirtualTransports", "BLEVirtualTransports", "BLESimulator", "BLECapture", "BLE"),
        tests("DelegateScanner", "DelegateScanner"),
        tests(
            "CoreBluetooth", "CoreBluetooth", "ForeignDelegates", "OptimizedDelegates", "ScannedDelegates", "BLE",
            "BLEAppLifecycle", "BLEAppState", "BLEDaemon", "BLEMessages", "BLESecurity", "BLESimulator",
            "BLEVirtualTransports", plugins: ["DelegateMethods"]),
        tests("BLERecording", "BLERecording", "BLEHost", "BLECapture", "BLEMessages", "BLESimulator", "TestSupport"),
        tests("BLEMessages", "BLEAppLifecycle", "BLEHost", "BLEMessages", "MessageDrawing"),
        tests(
            "BLEDaemon", "BLE", "BLEAppLifecycle", "BLEDaemon", "BLEDaemonClient", "BLEHost", "BLEMessages",
            "BLEPackets", "BLESecurity", "BLESimulator", "BLETransport", "BLEVirtualTransports", "TestSupport"),
        tests(
            "bletool", "bletool", "BLE", "BLEDaemon", "BLEHost", "BLEJSON", "BLEScripts", "BLESecurity", "BLETransport",
            "BLEVirtualTransports"),
    ]
)

// The gateway needs libraries that other clients should not have to fetch or install: JELLING_GATEWAY=1 adds it. A trait
// would not do: it guards what a target depends on and not the target, so without it `swift build` and `swift build
// --build-tests` would compile the program all the same, and fail at the libraries that are missing, unless each file were
// empty then. A package of its own beside this one could use products only, so a dozen modules that are internal would have
// to become public ones.
if Context.environment["JELLING_GATEWAY"] == "1" {
    package.products.append(.executable(name: "jelling-gateway", targets: ["jelling-gateway"]))
    package.dependencies += [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ]
    package.targets += [
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        program(
            "jelling-gateway", "BLE", "BLEDaemonClient", "BLEESPHome", "BLEGateway", "BLEJSON", "BLEMatter",
            "BLESecurity", "BLEServiceManager", "BLEStateFiles", "BLEText", "BLEUSB", "BLEVirtualTransports",
            "CMosquitto",
            "COpenSSL", "CSystemd", argumentParser, .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "GRDB", package: "GRDB.swift"), logging,
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "Yams", package: "Yams")),
    ]
}

// BlueZ's door, and the gateway where Avahi announces it, link libsystemd, whose header others need not install.
if ["JELLING_BLUEZ", "JELLING_GATEWAY"].contains(where: { Context.environment[$0] == "1" }) {
    package.targets.append(.systemLibrary(name: "CSystemd", providers: [.apt(["libsystemd-dev"])]))
}

// JELLING_BLUEZ=1 adds BlueZ's door, for the same reasons.
if Context.environment["JELLING_BLUEZ"] == "1" {
    package.products.append(.executable(name: "bled-bluez", targets: ["bled-bluez"]))
    package.targets.append(
        program(
            "bled-bluez", "BLE", "BLEBlueZ", "BLEDaemonClient", "BLEHost", "BLEMessages", "BLEPackets",
            "BLEServiceManager", "BLEStateFiles", "BLETransport", "CSystemd", argumentParser))
}

// What Tools/benchmark runs, of the same build as what people get; `Tools/release --benchmarks` sets JELLING_BENCHMARKS=1.
if Context.environment["JELLING_BENCHMARKS"] == "1" {
    let settings: [SwiftSetting] = [
        .enableExperimentalFeature("Lifetimes"), .enableUpcomingFeature("ExistentialAny"),
    ]
    func benchmark(_ name: String, _ dependencies: Target.Dependency...) -> Target {
        .executableTarget(
            name: name, dependencies: dependencies, path: "Tools/Benchmarks/Sources/\(name)", swiftSettings: settings)
    }
    package.targets += [
        .target(name: "CAllocationCounter", path: "Tools/Benchmarks/Sources/CAllocationCounter"),
        .target(name: "CFeeding", path: "Tools/Benchmarks/Sources/CFeeding"),
        .target(
            name: "BenchmarkService", dependencies: ["BLE"], path: "Tools/Benchmarks/Sources/BenchmarkService",
            swiftSettings: settings),
        benchmark("Feeder", "CFeeding"),
        benchmark("NullHost", "CBluetooth", "CFeeding"),
        benchmark("KernelHost", "CBluetooth", "CFeeding"),
        benchmark("Benchmark", "CAllocationCounter", "BLEPackets", "BLEHost", "BLESecurity", "BLERecording"),
        benchmark("Facade", "CoreBluetooth", "BLESimulator", "BLEPackets"),
        benchmark("Central", "BenchmarkService", "BLE", "BLEDaemonClient"),
        benchmark("Soak", "BenchmarkService", "BLE", "BLESecurity", "BLETestKit"),
        benchmark("Server", "BenchmarkService", "BLE"),
    ]
}

if hasServices {
    package.targets.append(
        tests(
            "BLEServices", "BLE", "BLELogging", "BLEMetrics", "BLEServiceLifecycle", "BLETestKit", "CoreBluetooth",
            "CoreBluetoothPublishers", "CoreBluetoothTestKit", logging,
            .product(name: "MetricsTestKit", package: "swift-metrics"),
            .product(name: "OpenCombine", package: "OpenCombine"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")))
}

// Tests reach what is internal also where the optimizer has been: `Tools/release --tests` sets JELLING_TESTABLE. The tests
// themselves are not what is tested, but for the delegates in one target; without optimisation they compile sooner.
if Context.environment["JELLING_TESTABLE"] == "1" {
    // No unit test runs these, and `Tools/release --all` has built them as people get them.
    let others: Set = [
        "heart-rate-central", "heart-rate-relay", "hidden-service", "protected-reader", "transfer-central",
        "transfer-peripheral", "message-echo", "journal-writer", "simulated-controllers",
    ]
    package.targets.removeAll { others.contains($0.name) }
    for target in package.targets {
        switch target.type {
        // Not optimised: part of the tests, and of the fuzzer, which has a build of its own; and what programs have of their
        // own, as the rings run them as people get them.
        case .regular where target.name == "FuzzBodies", .executable:
            target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-enable-testing", "-Onone"])]
        case .regular:
            target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-enable-testing"])]
        case .test where target.name != "CoreBluetoothTests":
            target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone"])]
        default: break
        }
    }
}

// SwiftPM compiles a target again when a module that it depends on by name has changed. The optimizer also brings in code and
// layouts of types of the modules behind those, so each target depends on them by name, too.
let targetNames = Set(package.targets.map(\.name))
var dependencies: [String: Set<String>] = [:]
for target in package.targets {
    dependencies[target.name] = Set(
        target.dependencies.compactMap { dependency in
            if case .byNameItem(let name, _) = dependency, targetNames.contains(name) { name } else { nil }
        })
}
let named = dependencies
var isComplete = false
while !isComplete {
    isComplete = true
    for (name, found) in dependencies {
        let all = found.union(found.flatMap { dependencies[$0] ?? [] })
        if all.count > found.count { (dependencies[name], isComplete) = (all, false) }
    }
}
for target in package.targets where target.type != .plugin && target.type != .system {
    let missing = (dependencies[target.name] ?? []).subtracting(named[target.name] ?? [])
    target.dependencies += missing.sorted().map { .byName(name: $0) }
}
