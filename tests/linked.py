"""Small workspaces with links in each language, and the target of each link, written by hand."""

Workspace = tuple[dict[str, str], str]

PYTHON: Workspace = (
    {
        "pyproject.toml": "[project]\nname = 'shop'\n",
        "src/shop/__init__.py": "from shop.cart import Cart\n",
        "src/shop/cart.py": (
            "import os.path, json\n"
            "import numpy as np\n"
            "from . import prices, taxes\n"
            "from .prices import (\n    total,  # the sum\n    discount as cut,\n)\n"
            "from ..elsewhere import gone\n"
            "from shop import prices, Cart\n"
            "import shop.deep.rules\n"
            "def late():\n    from shop.missing import thing\n"
            "from .gone import x\n"
        ),
        "src/shop/prices.py": "from ._made import version\nfrom .build.parts import x\n",
        "src/shop/_made.py": "# @generated\nversion = 1\n",
        "src/shop/build/parts.py": "",
        ".gitignore": "build/\n",
        "src/shop/deep/__init__.py": "from .rules import *\n",
        "src/shop/deep/rules.py": "from ...... import far\nfrom .. import prices\n",
        "tests/test_cart.py": "import helper\nimport shop.cart\nfrom shop.deep import rules\nimport yaml\n",
        "tests/helper.py": "import tests.data\n",
        "yaml/notes.py": "x = 1\n",
        "other/setup.py": "import setuptools\n",
        "other/tool/__init__.py": "",
        "other/tool/run.py": "from tool import run\nfrom shop import cart\n",
    },
    """
    other/setup.py:1 setuptools -> external setuptools
    other/tool/run.py:1 tool run -> other/tool/run.py
    other/tool/run.py:2 shop cart -> src/shop/cart.py
    src/shop/__init__.py:1 shop.cart Cart -> src/shop/cart.py
    src/shop/cart.py:1 os.path -> external os
    src/shop/cart.py:1 json -> external json
    src/shop/cart.py:2 numpy -> external numpy
    src/shop/cart.py:3 . prices -> src/shop/prices.py
    src/shop/cart.py:3 . taxes -> src/shop/__init__.py
    src/shop/cart.py:4 .prices total -> src/shop/prices.py
    src/shop/cart.py:8 ..elsewhere gone -> unresolved missing module
    src/shop/cart.py:9 shop prices -> src/shop/prices.py
    src/shop/cart.py:9 shop Cart -> src/shop/__init__.py
    src/shop/cart.py:10 shop.deep.rules -> src/shop/deep/rules.py
    src/shop/cart.py:12 shop.missing thing -> unresolved missing module
    src/shop/cart.py:13 .gone x -> unresolved missing module
    src/shop/deep/__init__.py:1 .rules * -> src/shop/deep/rules.py
    src/shop/deep/rules.py:1 ...... far -> unresolved outside the workspace
    src/shop/deep/rules.py:2 .. prices -> src/shop/prices.py
    src/shop/prices.py:1 ._made version -> src/shop/_made.py
    src/shop/prices.py:2 .build.parts x -> unresolved not indexed
    tests/helper.py:1 tests.data -> external tests
    tests/test_cart.py:1 helper -> tests/helper.py
    tests/test_cart.py:2 shop.cart -> src/shop/cart.py
    tests/test_cart.py:3 shop.deep rules -> src/shop/deep/rules.py
    tests/test_cart.py:4 yaml -> external yaml
    """,
)

PYTHON_MAPPED: Workspace = (
    {
        "pyproject.toml": '[tool.hatch.build.targets.wheel.sources]\n"core" = "shop/core"\n"web" = "shop/web"\n',
        "core/__init__.py": "",
        "core/cart.py": "import shop.web.page\nimport shop.gone\n",
        "web/__init__.py": "",
        "web/page.py": "from shop.core import cart\n",
    },
    """
    core/cart.py:1 shop.web.page -> web/page.py
    core/cart.py:2 shop.gone -> external shop
    web/page.py:1 shop.core cart -> core/cart.py
    """,
)

JAVASCRIPT: Workspace = (
    {
        "package.json": '{"name": "shop", "workspaces": ["packages/*"], "imports": {"#cart": "./src/cart.ts"}}\n',
        "tsconfig.base.json": "{\n  // aliases\n"
        '  "compilerOptions": {"paths": {"@/*": ["./src/*"], "#deep/*": ["./src/deep/*"], "@gone": ["./no"]}},'
        " // a comma, a comment and the end\n}\n",
        "tsconfig.json": '{"extends": "./tsconfig.base"}\n',
        "src/index.ts": (
            'import { Cart } from "./cart";\n'
            'import prices from "./prices.js";\n'
            'export * from "./deep";\n'
            'import "@/deep/rules";\n'
            'import type { Tax } from "@gone";\n'
            'import _ from "lodash/fp";\n'
            'import { readFile } from "node:fs";\n'
            'import "@acme/tools";\n'
            'import { help } from "@acme/tools/help";\n'
            'import x from "./missing";\n'
            'import y from "../../outside";\n'
            'import z from "#cart";\n'
            'import "./style.css";\n'
            'import logo from "./logo.png";\n'
            'import lib from "https://esm.sh/preact";\n'
            'import "#deep/rules";\n'
            'import "#none";\n'
        ),
        "src/cart.ts": 'const late = import("./deep/rules");\n',
        "src/prices.ts": "export default 1;\n",
        "src/deep/index.tsx": "export const a = 1;\n",
        "src/deep/rules.ts": 'import { Cart } from "../cart";\nimport self from "..";\n',
        "src/style.css": "a {}\n",
        "src/logo.png": "\0",
        "src/bundle.js": "const a = {1: [function (require, module, exports) {\nconst x = require('./inside');\n}]};\n",
        "packages/tools/package.json": '{"name": "@acme/tools", "main": "lib/main"}\n',
        "packages/tools/lib/main.js": "const h = require('../help');\nmodule.exports = require('./both');\n",
        "packages/tools/lib/both.js": "",
        "packages/tools/lib/both.ts": "",
        "packages/tools/help.js": "const all = require('.');\nconst fs = require('fs');\n",
    },
    """
    packages/tools/help.js:1 . -> packages/tools/lib/main.js
    packages/tools/help.js:2 fs -> external fs
    packages/tools/lib/main.js:1 ../help -> packages/tools/help.js
    packages/tools/lib/main.js:2 ./both -> packages/tools/lib/both.js
    src/cart.ts:1 ./deep/rules -> src/deep/rules.ts
    src/deep/rules.ts:1 ../cart -> src/cart.ts
    src/deep/rules.ts:2 .. -> src/index.ts
    src/index.ts:1 ./cart -> src/cart.ts
    src/index.ts:2 ./prices.js -> src/prices.ts
    src/index.ts:3 ./deep -> src/deep/index.tsx
    src/index.ts:4 @/deep/rules -> src/deep/rules.ts
    src/index.ts:5 @gone -> unresolved missing module
    src/index.ts:6 lodash/fp -> external lodash
    src/index.ts:7 node:fs -> external fs
    src/index.ts:8 @acme/tools -> packages/tools/lib/main.js
    src/index.ts:9 @acme/tools/help -> packages/tools/help.js
    src/index.ts:10 ./missing -> unresolved missing module
    src/index.ts:11 ../../outside -> unresolved outside the workspace
    src/index.ts:12 #cart -> src/cart.ts
    src/index.ts:13 ./style.css -> src/style.css
    src/index.ts:14 ./logo.png -> src/logo.png
    src/index.ts:15 https://esm.sh/preact -> external esm.sh
    src/index.ts:16 #deep/rules -> src/deep/rules.ts
    src/index.ts:17 #none -> unresolved missing module
    """,
)

GO: Workspace = (
    {
        "go.mod": "module example.org/shop\n\ngo 1.22\n\nreplace (\n\texample.org/tax v1.0.0 => ./third/tax\n)\n",
        "main.go": (
            'package main\n\nimport (\n\t"fmt"\n\t"net/http"\n\tc "example.org/shop/cart"\n'
            '\t_ "example.org/shop/gone"\n\t"example.org/tax/rates"\n\t"github.com/a/b/pkg"\n)\n'
        ),
        "cart/cart.go": 'package cart\n\nimport "example.org/shop"\n',
        "cart/cart_test.go": "package cart\n",
        "third/tax/go.mod": "module example.org/tax\n",
        "third/tax/rates/rates.go": 'package rates\n\nimport "example.org/shopping"\n',
        "vendor/github.com/a/b/pkg/x.go": "package pkg\n",
    },
    """
    cart/cart.go:3 example.org/shop -> .
    main.go:4 fmt -> external fmt
    main.go:5 net/http -> external net/http
    main.go:6 example.org/shop/cart -> cart
    main.go:7 example.org/shop/gone -> unresolved missing module
    main.go:8 example.org/tax/rates -> third/tax/rates
    main.go:9 github.com/a/b/pkg -> vendor/github.com/a/b/pkg
    third/tax/rates/rates.go:3 example.org/shopping -> external example.org/shopping
    """,
)

RUST: Workspace = (
    {
        "Cargo.toml": '[package]\nname = "shop-core"\nedition = "2021"\n\n[workspace]\nmembers = ["tax"]\n',
        "src/lib.rs": (
            "pub mod cart;\nmod deep;\nmod gone;\npub use cart::{Cart, rules::*};\nuse std::{fmt, io::Read};\n"
            '#[path = "odd/name.rs"]\nmod odd;\n'
        ),
        "src/cart.rs": (
            "mod rules;\nuse crate::deep::{self, inner::Thing as Other};\nuse super::deep;\nuse serde::Serialize;\n"
            "use shop_tax::rates::Rate;\nuse self::rules::Rule;\n"
            "enum Colour { Red }\nuse Colour::*;\n"
            "#[cfg(test)]\nmod tests {\n    use super::*;\n    use super::rules::Rule;\n    use crate::Cart;\n}\n"
        ),
        "src/cart/rules.rs": "use super::Cart;\n",
        "src/deep/mod.rs": "pub mod inner;\n",
        "src/deep/inner.rs": "use super::super::cart;\n",
        "src/odd/name.rs": "",
        "src/main.rs": "use shop_core::cart::Cart;\n",
        # Links inside a macro have their own lines; inside a module or function in a macro, none can be resolved.
        "src/macros.rs": (
            'cfg_feature! {\n    #![feature = "deep"]\n\n    /* mod not_this; */ // mod nor_this;\n'
            "    pub(crate) mod odd;\n    pub use crate::deep::{\n        inner::Thing,\n    };\n}\n"
            "cfg_if::cfg_if! {\n    if #[cfg(unix)] {\n        use super::cart;\n    }\n}\n"
            "cfg_test! {\n    mod tests {\n        use super::cart;\n    }\n}\n"
            'fn f() {\n    quote! { use crate::cart; }\n}\nhelp! { "; use crate::cart;" }\n'
        ),
        "src/macros/odd.rs": "",
        "tests/all.rs": "mod common;\nuse shop_core::deep;\nuse common::setup;\n",
        "tests/common/mod.rs": "",
        "tax/Cargo.toml": (
            '# THIS FILE IS AUTOMATICALLY GENERATED BY CARGO\n[package]\nname = "shop-tax"\nversion = "1.0.0"\n'
        ),
        "tax/src/lib.rs": "mod rates;\nmod sums;\n",
        "tax/src/rates.rs": "use sums::add;\nextern crate shop_core;\n",
        "tax/src/sums.rs": "",
    },
    """
    src/cart.rs:1 mod rules -> src/cart/rules.rs
    src/cart.rs:2 crate::deep -> src/deep/mod.rs
    src/cart.rs:2 crate::deep::inner::Thing -> src/deep/inner.rs
    src/cart.rs:3 super::deep -> src/deep/mod.rs
    src/cart.rs:4 serde::Serialize -> external serde
    src/cart.rs:5 shop_tax::rates::Rate -> tax/src/rates.rs
    src/cart.rs:6 self::rules::Rule -> src/cart/rules.rs
    src/cart.rs:12 super::rules::Rule tests -> src/cart/rules.rs
    src/cart.rs:13 crate::Cart tests -> src/lib.rs
    src/cart/rules.rs:1 super::Cart -> src/cart.rs
    src/deep/inner.rs:1 super::super::cart -> src/cart.rs
    src/deep/mod.rs:1 mod inner -> src/deep/inner.rs
    src/lib.rs:1 mod cart -> src/cart.rs
    src/lib.rs:2 mod deep -> src/deep/mod.rs
    src/lib.rs:3 mod gone -> unresolved missing module
    src/lib.rs:4 cart::Cart -> src/cart.rs
    src/lib.rs:4 cart::rules -> src/cart/rules.rs
    src/lib.rs:5 std::fmt -> external std
    src/lib.rs:7 mod odd @odd/name.rs -> src/odd/name.rs
    src/macros.rs:5 mod odd -> src/macros/odd.rs
    src/macros.rs:6 crate::deep::inner::Thing -> src/deep/inner.rs
    src/macros.rs:12 super::cart -> src/cart.rs
    src/main.rs:1 shop_core::cart::Cart -> src/cart.rs
    tax/src/lib.rs:1 mod rates -> tax/src/rates.rs
    tax/src/lib.rs:2 mod sums -> tax/src/sums.rs
    tax/src/rates.rs:1 sums::add -> tax/src/sums.rs
    tax/src/rates.rs:2 shop_core -> src/lib.rs
    tests/all.rs:1 mod common -> tests/common/mod.rs
    tests/all.rs:2 shop_core::deep -> src/deep/mod.rs
    tests/all.rs:3 common::setup -> tests/common/mod.rs
    """,
)

JAVA: Workspace = (
    {
        "core/src/main/java/org/shop/Cart.java": (
            "package org.shop;\n\nimport java.util.List;\nimport org.shop.tax.Rates;\n"
            "import static org.shop.tax.Rates.LOW;\nimport org.shop.tax.Rates.Kind;\nimport org.shop.tax.*;\n"
            "import org.shop.tax.Gone;\nimport org.shop.proto.Made;\nimport com.other.Thing;\n"
        ),
        "core/src/main/java/org/shop/tax/Rates.java": "package org.shop.tax;\n\nimport org.shop.Cart;\n",
        "core/src/test/java/org/shop/tax/RatesTest.java": "package org.shop.tax;\n\nimport org.shop.Twin;\n",
        "core/src/main/java/org/shop/Twin.java": "package org.shop;\n",
        "web/src/main/java/org/shop/Twin.java": "package org.shop;\n",
        "web/src/main/java/org/web/Page.java": "package org.web;\n\nimport org.shop.Twin;\n",
        "app/src/main/java/org/app/App.java": "package org.app;\n\nimport org.shop.Twin;\n",
    },
    """
    app/src/main/java/org/app/App.java:3 org.shop.Twin -> unresolved ambiguous
    core/src/main/java/org/shop/Cart.java:3 java.util.List -> external java.util
    core/src/main/java/org/shop/Cart.java:4 org.shop.tax.Rates -> core/src/main/java/org/shop/tax/Rates.java
    core/src/main/java/org/shop/Cart.java:5 org.shop.tax.Rates.LOW -> core/src/main/java/org/shop/tax/Rates.java
    core/src/main/java/org/shop/Cart.java:6 org.shop.tax.Rates.Kind -> core/src/main/java/org/shop/tax/Rates.java
    core/src/main/java/org/shop/Cart.java:7 org.shop.tax.* -> core/src/main/java/org/shop/tax
    core/src/main/java/org/shop/Cart.java:8 org.shop.tax.Gone -> unresolved missing module
    core/src/main/java/org/shop/Cart.java:9 org.shop.proto.Made -> external org.shop.proto
    core/src/main/java/org/shop/Cart.java:10 com.other.Thing -> external com.other
    core/src/main/java/org/shop/tax/Rates.java:3 org.shop.Cart -> core/src/main/java/org/shop/Cart.java
    core/src/test/java/org/shop/tax/RatesTest.java:3 org.shop.Twin -> unresolved ambiguous
    web/src/main/java/org/web/Page.java:3 org.shop.Twin -> web/src/main/java/org/shop/Twin.java
    """,
)

C: Workspace = (
    {
        "include/shop/cart.h": '#include "shop/tax.h"\n#include <string.h>\n',
        "include/shop/tax.h": "#include <vector>\n",
        "src/cart.c": (
            '#include "cart_private.h"\n#include <shop/cart.h>\n#include <string.h>\n#include <zlib.h>\n'
            '#include "config.h"\n#include "../include/shop/tax.h"\n#include "util.h"\n#include HEADER\n'
        ),
        "src/cart_private.h": "",
        "compat/string.h": "",
        "a/util.h": "",
        "b/util.h": "",
        "a/use.cpp": '#include "util.h"\n#include "twin.hpp"\n',
        "x/twin.hpp": "",
    },
    """
    a/use.cpp:1 "util.h" -> a/util.h
    a/use.cpp:2 "twin.hpp" -> x/twin.hpp
    include/shop/cart.h:1 "shop/tax.h" -> include/shop/tax.h
    include/shop/cart.h:2 <string.h> -> external string.h
    include/shop/tax.h:1 <vector> -> external vector
    src/cart.c:1 "cart_private.h" -> src/cart_private.h
    src/cart.c:2 <shop/cart.h> -> include/shop/cart.h
    src/cart.c:3 <string.h> -> external string.h
    src/cart.c:4 <zlib.h> -> external zlib.h
    src/cart.c:5 "config.h" -> unresolved missing file
    src/cart.c:6 "../include/shop/tax.h" -> include/shop/tax.h
    src/cart.c:7 "util.h" -> unresolved ambiguous
    """,
)

MARKDOWN: Workspace = (
    {
        "README.md": (
            "# Shop\n\n"
            "See [the guide](docs/guide.md), [its end](docs/guide.md#the-end) and [nothing](docs/guide.md#no).\n"
            "[By name][guide], [guide][] and [guide]; [gone](docs/gone.md 'a title') <https://example.org/a_(b)>.\n\n"
            "`[code](no.md)` and ``[[ code ]]``\n\n```sh\n[[ -f x ]] && echo [no](no.md)\n```\n"
            '<!-- [no](no.md) -->\n\n[guide]: docs/guide.md "title"\n\n'
            '<a href="docs/"><img src="logo.png" alt=""></a> [up](../up.md) [me](#shop) [mail](mailto:a@b.c)\n'
            "Plain https://www.example.com/x, [site](//cdn.example.net/y). [run](src/run.py#L3) [{{ x }}]({{ y }})\n"
            "[spaced](docs/a%20note.md) [root](/docs/guide) [hidden](build/out.html) [[#Shop]] [[toc]] [1][2]\n"
        ),
        "docs/guide.md": (
            "Guide\n=====\n\n## The `end`!\n\n<a id='deep'></a>\n\n[x](../README.md#Shop) [y](#deep) [z](#the-end-1)\n"
            "A block. ^b1\n\n### `get<Key, Value>(a)` and <em>Box</em>\n\n[k](#getkey-valuea-and-box)\n"
        ),
        "docs/a note.md": "# Note\n\n"
        "[[Guide]] [[guide#The end|alias]] ![[logo.png]] [[docs/guide#no]] [[Nowhere]] [[twin]]\n"
        "| [[guide\\|in a table]] | [[guide#^b1]] [[guide#^b2]] |\n[[a note]](https://example.org)\n",
        "docs/twin.md": "[[twin]]\n",
        "notes/twin.md": "[[./gone]] [[notes/twin]]\n",
        "src/run.py": "x = 1\n",
        "logo.png": "\0",
        ".gitignore": "build/\n",
        "build/out.html": "",
    },
    """
    README.md:3 docs/guide.md -> docs/guide.md
    README.md:3 docs/guide.md the-end -> docs/guide.md
    README.md:3 docs/guide.md no -> docs/guide.md missing anchor
    README.md:4 docs/guide.md -> docs/guide.md
    README.md:4 docs/gone.md -> unresolved missing file
    README.md:4 https://example.org/a_(b) -> external example.org
    README.md:15 docs/ -> docs
    README.md:15 logo.png -> logo.png
    README.md:15 ../up.md -> unresolved outside the workspace
    README.md:15 shop -> README.md
    README.md:16 https://www.example.com/x -> external example.com
    README.md:16 https://cdn.example.net/y -> external cdn.example.net
    README.md:16 src/run.py L3 -> src/run.py
    README.md:17 docs/a note.md -> docs/a note.md
    README.md:17 /docs/guide -> docs/guide.md
    README.md:17 build/out.html -> unresolved not indexed
    README.md:17 Shop -> README.md
    docs/a note.md:3 Guide -> docs/guide.md
    docs/a note.md:3 guide The end -> docs/guide.md
    docs/a note.md:3 logo.png -> logo.png
    docs/a note.md:3 docs/guide no -> docs/guide.md missing anchor
    docs/a note.md:3 Nowhere -> unresolved missing file
    docs/a note.md:3 twin -> docs/twin.md
    docs/a note.md:4 guide -> docs/guide.md
    docs/a note.md:4 guide ^b1 -> docs/guide.md
    docs/a note.md:4 guide ^b2 -> docs/guide.md missing anchor
    docs/a note.md:5 https://example.org -> external example.org
    docs/guide.md:8 ../README.md Shop -> README.md
    docs/guide.md:8 deep -> docs/guide.md
    docs/guide.md:8 the-end-1 -> docs/guide.md missing anchor
    docs/guide.md:13 getkey-valuea-and-box -> docs/guide.md
    docs/twin.md:1 twin -> docs/twin.md
    notes/twin.md:1 ./gone -> unresolved missing file
    notes/twin.md:1 notes/twin -> notes/twin.md
    """,
)

WORKSPACES = {
    "python": PYTHON,
    "python mapped": PYTHON_MAPPED,
    "javascript": JAVASCRIPT,
    "go": GO,
    "rust": RUST,
    "java": JAVA,
    "c": C,
    "markdown": MARKDOWN,
}
