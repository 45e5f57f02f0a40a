import Foundation
import PackagePlugin

/// Finds the delegate methods that a target's classes add to those of their superclasses, and declares them, so that an
/// optimized program calls them as well. The article "Coming from Apple's system" of Core Bluetooth has the details.
@main
struct DelegateMethods: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let generated = target.pluginGeneratedSources.filter { $0.pathExtension == "swift" }
        let sources = target.sourceFiles(withSuffix: "swift").map(\.url) + generated
        let output = context.pluginWorkDirectoryURL.appending(path: "CBDelegateMethods.swift")
        return [
            .buildCommand(
                displayName: "Reading the delegates of \(target.name)",
                executable: try context.tool(named: "delegate-methods").url,
                arguments: [output.path(percentEncoded: false)] + sources.map { $0.path(percentEncoded: false) },
                inputFiles: sources, outputFiles: [output])
        ]
    }
}
