// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "Benchmark",
    dependencies: [
        .package(name: "jelling", path: "../..")
    ],
    targets: [
        .target(name: "CAllocationCounter"),
        .target(name: "CFeeding"),
        .executableTarget(name: "Feeder", dependencies: ["CFeeding"]),
        .executableTarget(name: "NullHost", dependencies: ["CFeeding"]),
        .executableTarget(name: "KernelHost", dependencies: ["CFeeding"]),
        .executableTarget(
            name: "Benchmark",
            dependencies: [
                "CAllocationCounter", .product(name: "BLEPackets", package: "jelling"),
                .product(name: "BLEHost", package: "jelling"),
                .product(name: "BLESecurity", package: "jelling"),
                .product(name: "BLERecording", package: "jelling"),
            ],
            swiftSettings: settings),
        .target(
            name: "BenchmarkService", dependencies: [.product(name: "BLE", package: "jelling")],
            swiftSettings: settings),
        .executableTarget(
            name: "Facade",
            dependencies: [
                .product(name: "CoreBluetooth", package: "jelling"),
                .product(name: "BLESimulator", package: "jelling"),
                .product(name: "BLEPackets", package: "jelling"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Central",
            dependencies: [
                "BenchmarkService", .product(name: "BLE", package: "jelling"),
                .product(name: "BLEDaemonClient", package: "jelling"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Soak",
            dependencies: [
                "BenchmarkService", .product(name: "BLE", package: "jelling"),
                .product(name: "BLESecurity", package: "jelling"), .product(name: "BLETestKit", package: "jelling"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Server", dependencies: ["BenchmarkService", .product(name: "BLE", package: "jelling")],
            swiftSettings: settings),
    ]
)
