import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const SHEET = readFileSync(new URL("../src/styles/base.css", import.meta.url), "utf-8");
const TEXT = ["ink", "soft", "accent", "open", "accept", "reject", "unsure", "trouble"];
const GROUNDS = ["ground", "raised", "higher", "wash"];

type Rgb = [number, number, number];

const hex = (text: string): Rgb => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) as Rgb;

/** Relative luminance, as WCAG 2 defines it. */
function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((x) => x / 255).map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function coloursOf(block: string): Map<string, Rgb> {
  const found = new Map([...block.matchAll(/--([\w-]+): (#\w{6});/g)].map(([, name, text]) => [name as string, hex(text as string)]));
  const [, r, g, b, share] = /--wash: rgb\((\d+) (\d+) (\d+) \/ ([\d.]+)\)/.exec(block) ?? [];
  const under = found.get("raised") as Rgb;
  found.set("wash", [r, g, b].map((x, i) => Number(share) * Number(x) + (1 - Number(share)) * (under[i] as number)) as Rgb);
  return found;
}

const BLOCKS = [...SHEET.matchAll(/:root \{(.*?)\}/gs)].slice(0, 2).map(([, block]) => coloursOf(block as string));

for (const [i, theme] of ["dark", "light"].entries()) {
  test(`every colour of text can be read on every ground, ${theme}`, () => {
    const colours = BLOCKS[i] as Map<string, Rgb>;
    for (const text of TEXT) {
      for (const ground of GROUNDS) {
        const found = contrast(colours.get(text) as Rgb, colours.get(ground) as Rgb);
        assert.ok(found >= 4.5, `${text} on ${ground}: ${found.toFixed(2)}`);
      }
    }
  });
}
