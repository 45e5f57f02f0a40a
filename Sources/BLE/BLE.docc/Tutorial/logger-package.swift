// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "heart-rate-logger",
    dependencies: [.package(name: "jelling", path: "../jelling")],
    targets: [
        .executableTarget(
            name: "heart-rate-logger",
            dependencies: [
                .product(name: "BLEValues", package: "jelling"),
                .product(name: "BLEVirtualTransports", package: "jelling"),
            ]),
        .testTarget(
            name: "LoggerTests",
            dependencies: [
                .product(name: "BLEValues", package: "jelling"), .product(name: "BLETestKit", package: "jelling"),
            ]),
    ]
)
