/// Why a line is not a step.
package struct ScriptProblem: Error, Equatable, CustomStringConvertible {
    package var description: String
    /// From 1; `nil`: there is only one line.
    package var line: Int?

    package init(_ description: String) { self.description = description }

    func at(line: Int) -> ScriptProblem {
        var problem = ScriptProblem("line \(line): \(description)")
        problem.line = line
        return problem
    }
}
