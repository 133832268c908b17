/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/command_line.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/words.h"
#include "programs/apps/app.h"

static const struct option {
    const char *app, *key;
    double min, max, otherwise;
} options[] = {
#define OPTION(app, key, min, max, otherwise, help) {#app, #key, min, max, otherwise},
    GPU_APP_OPTIONS(OPTION)};
enum { OPTIONS = sizeof options / sizeof *options };

static const struct option* find(const struct app* app, const char* key) {
    for (const struct option* o = options; o < options + OPTIONS; ++o)
        if (word_is(app->line, o->app) && strcmp(key, o->key) == 0) return o;
    return NULL;
}

bool app_has_option(const struct app* app, const char* key) { return find(app, key) != NULL; }

double app_option(struct app* app, const char* key) {
    const struct option* o = find(app, key);
    if (!o) panic("option '%s' is not in abi/apps.h", key);
    double value = o->otherwise;
    const char* text = command_line_value(app->line, key);
    if (text) command_line_decimal(text, &value);
    return value;
}

void app_check_keys(const char* line) {
    static const char* const common[] = {"size",  "gpus",     "placement", "dispatch", "seed",
                                         "limit", "declared", "places",    "schedules"};
    enum { COMMON = sizeof common / sizeof *common };
    const char* keys[COMMON + OPTIONS];
    unsigned count = COMMON;
    memcpy(keys, common, sizeof common);
    for (const struct option* o = options; o < options + OPTIONS; ++o)
        if (word_is(line, o->app)) keys[count++] = o->key;
    command_line_only(command_line_behind(line), keys, count);
}

bool app_options_are_valid(const char* line) {
    for (const struct option* o = options; o < options + OPTIONS; ++o) {
        const char* text = word_is(line, o->app) ? command_line_value(line, o->key) : NULL;
        double value;
        if (!text || (command_line_decimal(text, &value) && value >= o->min && value <= o->max)) continue;
        console_printf("%s is out of range or no number\n", o->key);
        return false;
    }
    return true;
}
