// The page's words: every language has every phrase, with the same values, and each phrase is used.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

const page = new URL('../../Sources/GalleryServer/Page/', import.meta.url);
const read = (path) => readFileSync(new URL(path, page), 'utf8');
const english = (await import(new URL('text/en.js', page))).default;
const german = (await import(new URL('text/de.js', page))).default;
const forms = (phrase) => typeof phrase === 'string' ? [phrase] : [phrase.one, phrase.other];
const values = (phrase) => [...new Set(forms(phrase).join(' ').match(/\{\w+\}/g) ?? [])].sort();

test('no phrase is written twice', () => {
  for (const file of ['text/en.js', 'text/de.js']) {
    const names = [...read(file).matchAll(/^ {2}'([^']+)':/gm)].map((match) => match[1]);
    assert.deepEqual(names.filter((name, index) => names.indexOf(name) !== index), [], file);
  }
});

test('German has the phrases of English, and each takes the same values', () => {
  // The server's sentences are English.
  const own = Object.keys(german).filter((name) => !name.startsWith('problem.'));
  assert.deepEqual(own.sort(), Object.keys(english).sort());
  for (const name of Object.keys(english)) {
    assert.deepEqual(values(german[name]), values(english[name]), name);
    assert.equal(typeof german[name], typeof english[name], name);
    for (const form of [...forms(english[name]), ...forms(german[name])]) assert.ok(form.trim() !== '', name);
  }
});

test('German says of photos nothing that reads as if it were said of the reader', () => {
  // The formal address is the plural of the third person: "Sie verlassen" is "you leave" as well as "they leave".
  const found = Object.keys(german).filter((name) => forms(german[name]).some((form) => /\bSie \p{L}+en\b/u.test(form)));
  assert.deepEqual(found, []);
});

test('German has a phrase for each type of problem of the server, and for what the page finds itself', () => {
  const { components } = JSON.parse(readFileSync(new URL('../Service/openapi.json', page), 'utf8'));
  const types = components.schemas.ProblemType.enum.map((type) => type.split(':').pop());
  const named = Object.keys(german).filter((name) => name.startsWith('problem.')).map((name) => name.slice(8));
  assert.deepEqual(named.sort(), [...types, 'missing-files', 'not-reached', 'other', 'other-session', 'unknown'].sort());
});

test('a problem is said in the reader’s language, which quotes the server’s where it names something', async () => {
  const wordsOf = async (locale) => {
    Object.defineProperty(globalThis, 'navigator', { value: { languages: [locale] }, configurable: true });
    return (await import(new URL(`text/text.js?${locale}`, page))).problemWords;
  };
  const gone = { type: 'not-enough-space', status: 507, message: 'The disk has no space left.' };
  const key = { type: 'unsupported-predicate', status: 400, message: "Unknown key 'colour' {status}." };
  const [inEnglish, inGerman] = [await wordsOf('en-GB'), await wordsOf('de-DE')];
  assert.deepEqual([gone, key].map(inEnglish), [gone.message, key.message]);
  assert.equal(inGerman(gone), 'Auf dem Datenträger des Servers ist nicht genug Platz.');
  assert.equal(inGerman(key), "Dieses Prädikat wird nicht unterstützt: „Unknown key 'colour' {status}.“");
  assert.equal(inGerman({ ...key, type: 'of-tomorrow' }), "Der Server meldet: „Unknown key 'colour' {status}.“");
  assert.equal(inGerman({ ...key, type: 'unknown' }), 'Der Server hat mit dem Status 400 geantwortet.');
});

test('each phrase is used, and each that is used is there', () => {
  const code = ['client', 'model', 'layout', 'views'].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, page)).map((file) => read(`${folder}/${file}`))).join('\n');
  const named = new Set([...code.matchAll(/'([a-z][A-Za-z-]*(?:\.[A-Za-z0-9-]+)+)'/g)].map((match) => match[1]));
  const begun = [...code.matchAll(/`([a-z][A-Za-z-]*(?:\.[A-Za-z0-9-]+)*\.)\$\{/g)].map((match) => match[1]);
  for (const [, name] of code.matchAll(/\bt\('([^']+)'/g)) named.add(name);
  const unused = Object.keys(english).filter((name) => !named.has(name) && !begun.some((start) => name.startsWith(start))
    && !code.includes(`\`${name}`));
  assert.deepEqual(unused, []);
  const direct = [...code.matchAll(/\bt\('([^']+)'/g)].map((match) => match[1]);
  assert.deepEqual(direct.filter((name) => !(name in english)), []);
});

test('a value in a phrase changes the direction of nothing beside it', async () => {
  Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en-GB'] }, configurable: true });
  const { isolated, t } = await import(new URL('text/text.js', page));
  const [rlo, lri, fsi, pop] = ['\u202e', '\u2066', '\u2068', '\u2069'];
  assert.equal(isolated('Shore, Küste, 海'), 'Shore, Küste, 海');
  assert.equal(isolated('חוף'), `${fsi}חוף${pop}`);
  // How deep isolations are after each text: none ends the one around it, and none outlasts it.
  for (const text of [rlo, `${pop}${rlo}x`, `${lri}x`, `${lri}${pop}${pop}${pop}x${rlo}`, `${fsi}${lri}x${pop}${lri}`]) {
    let depth = 0;
    const depths = [...isolated(text)].map((one) => {
      if (one === pop) depth -= 1;
      else if (one >= lri && one <= fsi) depth += 1;
      return depth;
    });
    assert.ok(depths.slice(0, -1).every((one) => one > 0), JSON.stringify(text));
    assert.equal(depths.at(-1), 0, JSON.stringify(text));
  }
  assert.equal(t('said.name', { name: `a${rlo}b` }), `“${fsi}a${rlo}b${pop}”`);
});
