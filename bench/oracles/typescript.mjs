// Answers "who refers to this?" with the TypeScript language service, with one program for all files of a project.
//
//     node typescript.mjs PATH_OF_TYPESCRIPT < question.json > answer.json
//
// Question: {root, files, paths, asked: [[file, line, column]]}, with files relative to the root, lines from 0 and
// columns in units of UTF-16. Answer: for each asked place null, if no definition is named there, or [[file, line, column]].

import { createRequire } from "node:module"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const ts = createRequire(import.meta.url)(process.argv[2])
const { root, files, paths, asked } = JSON.parse(readFileSync(0, "utf8"))
const full = (file) => join(root, file)
const options = {
    allowJs: true,
    allowImportingTsExtensions: true,
    esModuleInterop: true,
    experimentalDecorators: true,
    jsx: ts.JsxEmit.Preserve,
    module: ts.ModuleKind.Preserve,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    noEmit: true,
    paths,
    baseUrl: root,
    resolveJsonModule: true,
    skipLibCheck: true,
    strict: true,
    target: ts.ScriptTarget.ESNext,
    types: [],
}
const host = {
    getCompilationSettings: () => options,
    getScriptFileNames: () => files.map(full),
    getScriptVersion: () => "0",
    getScriptSnapshot: (name) => (ts.sys.fileExists(name) ? ts.ScriptSnapshot.fromString(ts.sys.readFile(name)) : undefined),
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
}
const service = ts.createLanguageService(host)
const program = service.getProgram()
const scripts = files.map((file) => program.getSourceFile(full(file))).filter((source) => source?.text.includes("require("))

function referencesOf([file, line, column]) {
    const source = program.getSourceFile(full(file))
    if (!source) return null
    const start = ts.getPositionOfLineAndCharacter(source, line, column)
    const groups = service.findReferences(full(file), start) ?? []
    const found = groups.flatMap((group) => group.references)
    if (!found.some((one) => one.isDefinition && one.fileName === full(file) && one.textSpan.start === start)) return null
    const name = source.text.slice(start).match(/^[\w$]+/)?.[0]
    const used = [...found.filter((one) => !one.isDefinition), ...(name ? throughRequire(name, full(file), start) : [])]
    return used.filter((one) => one.fileName.startsWith(root + "/")).map(place)
}

// The service knows what `require("./a").name` means, but leaves it out when it looks for references.
function throughRequire(name, file, start) {
    const pattern = new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`, "g")
    return scripts.flatMap((script) =>
        [...script.text.matchAll(pattern)]
            .filter((match) => isDefinedAt(script.fileName, match.index, file, start))
            .map((match) => ({ fileName: script.fileName, textSpan: { start: match.index } })),
    )
}

function isDefinedAt(fileName, position, file, start) {
    if (fileName === file && position === start) return false
    const found = service.getDefinitionAtPosition(fileName, position) ?? []
    return found.some((one) => one.fileName === file && one.textSpan.start === start)
}

function place(one) {
    const source = program.getSourceFile(one.fileName)
    // The span of a text includes its quotes.
    const quote = /["'`]/.test(source.text[one.textSpan.start]) ? 1 : 0
    const { line, character } = ts.getLineAndCharacterOfPosition(source, one.textSpan.start + quote)
    return [one.fileName.slice(root.length + 1), line, character]
}

process.stdout.write(JSON.stringify(asked.map(referencesOf)))
