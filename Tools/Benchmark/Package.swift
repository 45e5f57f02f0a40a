// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Benchmark",
    dependencies: [
        .package(name: "jelling", path: "../..")
    ],
    targets: [
        .target(name: "CAllocationCounter"),
        .executableTarget(
            name: "Benchmark",
            dependencies: ["CAllocationCounter", .product(name: "BLEPackets", package: "jelling")],
            swiftSettings: [
                .enableExperimentalFeature("Lifetimes"),
                .enableUpcomingFeature("ExistentialAny"),
            ]),
    ]
)
